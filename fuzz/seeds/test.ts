@problemName Small
@timeStamps false
@missing true
@univariate false
@dimensions 2
@equalLength false
@classLabel true up down
@data
0.42,0.41,3:4,?,6:down
0.16,0.00,3:4,?,9:up
0.99,0.43,3:4,?,3:down
0.03,0.46,3:4,?,8:up
0.96,0.54,3:4,?,3:down
0.86,0.86,3:4,?,4:up
