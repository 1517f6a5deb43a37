# Accuracy against simulated time, from the learning curves of scenarios/hospitals.xml:
#   scripts/run scenarios/hospitals.xml --quiet --csv hospitals.csv && gnuplot docs/images/hospitals.gp
set terminal svg size 900,420 font "sans-serif,14" background rgb "white"
set output "docs/images/hospitals.svg"
set datafile separator ","
set logscale x
set xrange [0.5:900]
set yrange [40:100]
set xlabel "simulated time, s"
set ylabel "accuracy on held-back digits, %"
set key outside right
set grid lc rgb "#dddddd"
set arrow from 0.5,95 to 900,95 nohead dt 2 lc rgb "#666666"
set label "target" at 0.55,96.8 textcolor rgb "#666666"

run(i) = i == 1 ? "gradient-sharing" : i == 2 ? "dad" : i == 3 ? "edad" : i == 4 ? "rank-dad (cap 16)" : "rank-dad (cap 8)"
array colours[5] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9"]
plot for [i=1:5] "hospitals.csv" using (strcol("label") eq run(i) ? column("seconds") : NaN):(column("accuracy") * 100) \
  with lines lw 2 lc rgb colours[i] title run(i)
