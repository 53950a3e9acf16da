# Makes winds.csv and logs.csv: 200 conditions of a wall of fans, spread evenly by the fractional parts
# of multiples of irrational numbers. Run: awk -f make_winds.awk
#
#   speed    1.5 … 12 m/s                 from  i·(√5 − 1)/2
#   heading  0 … 360°                     from  i·√2
#   north    speed · cos heading          mean wind, m/s
#   east     speed · sin heading          mean wind, m/s
#   updraft  up to ±15 % of the speed     from  i·√3, m/s
#   gust     5 … 30 % of the speed        from  i·√7, amplitude in m/s
#   minutes  0.5 + 0.02 · speed²          of tunnel time for a sample: strong wind heats the fans
#   left     20 … 199 samples             for every third condition, which is an old log and not a run
function part(x) { return x - int(x) }
BEGIN {
    print "name,north,east,updraft,gust" > "winds.csv"
    print "name,north,east,updraft,gust,minutes,left" > "logs.csv"
    pi = atan2(0, -1)
    for (i = 0; i < 200; i++) {
        speed = 1.5 + 10.5 * part(i * (sqrt(5) - 1) / 2)
        heading = 2 * pi * part(i * sqrt(2))
        updraft = 0.15 * speed * sin(2 * pi * part(i * sqrt(3)))
        gust = speed * (0.05 + 0.25 * part(i * sqrt(7)))
        minutes = 0.5 + 0.02 * speed * speed
        left = i % 3 == 0 ? 20 + (i * 37) % 180 : ""
        wind = sprintf("w%03d,%.2f,%.2f,%.2f,%.2f", i, speed * cos(heading), speed * sin(heading), updraft, gust)
        print wind > "winds.csv"
        printf "%s,%.2f,%s\n", wind, minutes, left > "logs.csv"
    }
}
