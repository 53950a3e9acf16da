#!/bin/sh
# Two days in a tunnel: the commands of docs/how-to/run-a-campaign.md, one after the other.
#
#     sh two_days.sh FOLDER      in a folder of its own, which is made
#
# TASKSCOUT names the command if it is not on the path; TASKSCOUT_STORE another store than FOLDER/studies.db.
set -eu
taskscout=${TASKSCOUT:-taskscout}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cp "$here/study.toml" "$here/conditions.csv" "$here/tunnel.py" "$1"
cd "$1"

echo "== Monday, 9:00: the study begins"
"$taskscout" study new study.toml
python3 tunnel.py hover hover.csv
"$taskscout" study target hover.csv
"$taskscout" study ask --budget 150 --key monday --out monday.csv

echo "== Monday, 11:00: the tunnel crashes halfway through"
python3 tunnel.py measure monday.csv || echo "the tunnel stopped"
"$taskscout" study tell monday.csv
"$taskscout" study status

echo "== Monday, 14:00: it is repaired, and the checklist is told again"
python3 tunnel.py measure monday.csv
"$taskscout" study tell monday.csv

echo "== Monday, 16:00: a mistake, taken back"
python3 tunnel.py calibrate calibration.csv
"$taskscout" study add calibration.csv --task c07
"$taskscout" study undo
"$taskscout" study forecast

echo "== Tuesday: two workers measure, while the tunnel crashes now and then"
"$taskscout" study work --budget 150 --rounds 3 -- python3 tunnel.py serve &
first=$!
"$taskscout" study work --budget 150 --rounds 3 -- python3 tunnel.py serve
wait $first
"$taskscout" study status
"$taskscout" study forecast --figure forecast.svg

echo "== Tuesday, 17:00: the model"
"$taskscout" study model --out force.safetensors
printf 'vx,vy,pwm\n1.5,-0.5,1550\n-2,1,1400\n' > questions.csv
"$taskscout" predict force.safetensors --inputs questions.csv
"$taskscout" study report --out study.html
"$taskscout" study export archive
