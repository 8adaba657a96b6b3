00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated begins to misbehave
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     3 node/requests                answered a request with 11 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 volume/data                  declared with 64M from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     8 volume/logs                  declared with 1G from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     9 machine/alpha                reserved an attachment for volume data, because a volume will be attached to it (operator)
00:00:00.000    10 volume/data                  reserved for machine alpha, because it will be attached to a machine (operator)
00:00:00.000    11 volume-attachment/alpha:data declared, because it was declared and waits for its machine and storage (operator)
00:00:00.000    12 machine/beta                 reserved an attachment for volume logs, because a volume will be attached to it (operator)
00:00:00.000    13 volume/logs                  reserved for machine beta, because it will be attached to a machine (operator)
00:00:00.000    14 volume-attachment/beta:logs  declared, because it was declared and waits for its machine and storage (operator)
00:00:00.020    15 machine/alpha                provider created instance i-0007; has until 00:20:00.020 to become healthy, because the provider reported success (executor, after 4)
00:00:00.020    16 machine/beta                 provider created instance i-0008; has until 00:20:00.020 to become healthy, because the provider reported success (executor, after 5)
00:00:00.020    17 machine/gamma                creating the instance failed (resource-exhausted: the quota is used up); next attempt at 00:00:10.020, because another attempt may succeed (executor, after 6)
00:00:00.021    18 volume/data                  provider created volume v-0005 of 64M, because the provider reported success (executor, after 7)
00:00:00.021    19 volume/logs                  provider created volume v-0006 of 1G, because the provider reported success (executor, after 8)
00:00:00.021    20 supervisor/storage           ordered volume-attachment/alpha:data: attach volume v-0005 to instance i-0007; ordered volume-attachment/beta:logs: attach volume v-0006 to instance i-0008, because the observed state requires it (supervisor/storage)
00:00:00.021    21 volume-attachment/beta:logs  requested attachment to instance i-0008, because its machine and storage are ready (supervisor/storage, after 20)
00:00:00.021    22 volume-attachment/alpha:data requested attachment to instance i-0007, because its machine and storage are ready (supervisor/storage, after 20)
00:00:00.042    23 supervisor/machines          provider simulated reported: new instance i-0008 of machine/beta, new instance i-0007 of machine/alpha, because the list differs from the last one (supervisor/machines)
00:00:00.048    24 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 22)
00:00:00.048    25 volume-attachment/beta:logs  provider attached it at /volumes/logs, because the provider reported success (executor, after 21)
00:00:10.000    26 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    27 supervisor/storage           agents reported: volume logs is device sim-7c16c8fb on machine beta, because the devices of machines changed (supervisor/storage)
00:00:10.000    28 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    29 supervisor/storage           agents reported: volume data is device sim-e937ac92 on machine alpha, because the devices of machines changed (supervisor/storage)
00:00:10.020    30 machine/gamma                started the next attempt, because the next attempt is due (schedule)
00:00:10.066    31 machine/gamma                creating the instance failed (resource-exhausted: the quota is used up); next attempt at 00:00:30.066, because another attempt may succeed (executor, after 30)
00:00:30.066    32 machine/gamma                started the next attempt, because the next attempt is due (schedule)
00:00:30.139    33 machine/gamma                creating the instance failed (resource-exhausted: the quota is used up); next attempt at 00:01:10.139, because another attempt may succeed (executor, after 32)
00:01:10.139    34 machine/gamma                started the next attempt, because the next attempt is due (schedule)
00:01:10.198    35 machine/gamma                creating the instance failed (resource-exhausted: the quota is used up); next attempt at 00:02:30.198, because another attempt may succeed (executor, after 34)
00:02:30.198    36 machine/gamma                started the next attempt, because the next attempt is due (schedule)
00:02:30.225    37 machine/gamma                creating the instance failed (resource-exhausted: the quota is used up); next attempt at 00:05:10.225, because another attempt may succeed (executor, after 36)
00:05:10.225    38 machine/gamma                started the next attempt, because the next attempt is due (schedule)
00:05:10.264    39 machine/gamma                creating the instance failed (resource-exhausted: the quota is used up); next attempt at 00:08:10.264, because another attempt may succeed (executor, after 38)
00:06:00.000     --- an operator removes machine/alpha
00:06:00.000    40 node/requests                answered a request with 1 command (operator)
00:06:00.000    41 machine/alpha                removal started, because its removal was requested and waits for its attachments (operator)
00:06:00.000    42 supervisor/storage           ordered volume-attachment/alpha:data: remove, because the observed state requires it (supervisor/storage)
00:06:00.000    43 volume-attachment/alpha:data removal started; requested detachment, because its removal was requested (supervisor/storage, after 42)
00:06:00.012    44 volume-attachment/alpha:data provider detached it; removed, because the provider reported success and its removal was requested (executor, after 43)
00:06:00.012    45 supervisor/storage           ordered machine/alpha: no longer reserve an attachment for volume data; ordered volume/data: no longer reserve for machine alpha, because the observed state requires it (supervisor/storage)
00:06:00.012    46 machine/alpha                no longer reserves an attachment for volume data; nothing depends on it any more; requested the deletion of its instance, because nothing depends on it any more (supervisor/storage, after 45)
00:06:00.012    47 volume/data                  no longer reserved for machine alpha, because its attachment there is gone (supervisor/storage, after 45)
00:06:00.045    48 machine/alpha                provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 46)
00:06:05.035    49 supervisor/machines          provider simulated reported: instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:06:10.036    50 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:08:10.264    51 machine/gamma                started the next attempt, because the next attempt is due (schedule)
00:08:10.311    52 machine/gamma                provider created instance i-0014; has until 00:28:10.311 to become healthy, because the provider reported success (executor, after 51)
00:08:15.017    53 supervisor/machines          provider simulated reported: new instance i-0014 of machine/gamma, because the list differs from the last one (supervisor/machines)
00:08:20.000    54 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:40:00.000     --- an operator retries everything that was given up

converged after 2400.000 s: 54 entries, 737 provider calls, 0 crashes, seed 17
  machine/alpha                    removed
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     removed
  volume-attachment/beta:logs      attached
  volume/data                      available
  volume/logs                      reserved
journal 084cfa7f92662b81674e1fca5a9380d7fa2535c357d7c55e0e77f95d04ae34d8
