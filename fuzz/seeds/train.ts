# a comment
@problemName Small
@timeStamps false
@missing true
@univariate false
@dimensions 2
@equalLength false
@classLabel true up down
@data
0.24,0.19,3:4,?,6:down
0.65,0.10,3:4,?,9:up
0.32,0.33,3:4,?,3:down
0.44,0.86,3:4,?,2:up
0.08,0.74,3:4,?,3:down
0.88,0.45,3:4,?,3:up
0.79,0.03,3:4,?,3:down
0.32,0.84,3:4,?,9:up
0.18,0.28,3:4,?,1:down
0.81,0.35,3:4,?,2:up
0.42,0.52,3:4,?,4:down
0.46,0.63,3:4,?,4:up
