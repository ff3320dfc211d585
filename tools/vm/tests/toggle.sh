#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The mode is changed 20 times a second for 20 s under load at queue depth 32, on
# nvme, dm-linear, md raid0 and zram. No counter goes back, no sample shows more
# busy time than passed, and nothing is in flight at the end.
# vm: -d 3 -m 3G
set -eu
. tools/vm/stat.sh

modprobe dm_mod
modprobe raid0
modprobe zram num_devices=1
echo 256M > /sys/block/zram0/disksize
dmsetup create --noudevsync lin --table "0 1048576 linear /dev/nvme0n1 0"
mdadm --create /dev/md0 --run --quiet --level=0 --raid-devices=2 --metadata=1.2 /dev/nvme1n1 /dev/nvme2n1 2>/dev/null
disks=(nvme0n1 dm-0 md0 zram0)
for d in "${disks[@]}"; do need_disk "$d"; done

for d in "${disks[@]}"; do
	fio --name="$d" --filename="/dev/$d" --direct=1 --rw=randrw --bs=4k --size=128m --ioengine=libaio \
		--iodepth=32 --runtime=24 --time_based --output=/dev/null &
done

# CLOCK_MONOTONIC before and after each reading bounds when it happened.
python3 - "${disks[@]}" <<'PY'
import random, sys, time
disks = sys.argv[1:]
TIMES = {3: 'read', 7: 'write', 9: 'busy', 10: 'queue', 14: 'discard', 16: 'flush'}
COUNTS = {0, 1, 2, 4, 5, 6, 11, 12, 13, 15}
seen = {d: None for d in disks}
random.seed(1)
bad, samples, worst = [], 0, 0
end = time.monotonic() + 20
while time.monotonic() < end:
    for d in disks:
        mode = random.choice('012')
        with open('/sys/block/%s/queue/iostats' % d, 'w') as f:
            f.write(mode)
        before = time.monotonic()
        with open('/sys/block/%s/stat' % d) as f:
            v = [int(x) for x in f.read().split()]
        after = time.monotonic()
        last = seen[d]
        if last:
            for i in set(TIMES) | COUNTS:
                if v[i] < last[0][i]:
                    bad.append('%s: field %d went back from %d to %d' % (d, i + 1, last[0][i], v[i]))
            busy, passed = v[9] - last[0][9], (after - last[1]) * 1000
            worst = max(worst, busy - passed)
            # whole ms; in mode 1 a tick of 4 ms is added at once
            if busy > passed + 1 + 4:
                bad.append('%s: busy for %d ms of %.1f' % (d, busy, passed))
        if v[8] > 1000:
            bad.append('%s: %d in flight' % (d, v[8]))
        seen[d] = (v, before)
        samples += 1
    time.sleep(max(0, 0.05 - (time.monotonic() - before)))
print(samples, 'changes; most busy time above the time that passed: %.1f ms' % worst)
for b in bad[:10]:
    print(b)
sys.exit(bool(bad) or samples < 100)
PY
wait
for d in "${disks[@]}"; do
	expect "in flight on $d at the end" "$(inflight "$d")" 0
	set_mode "$d" 2
	a=$(field "$d" 10)
	sleep 0.5
	expect "busy time of the idle $d" "$(($(field "$d" 10) - a))" 0
	a=$(field "$d" 11)
	sleep 0.2
	expect "time in queue of the idle $d" "$(($(field "$d" 11) - a))" 0
done
