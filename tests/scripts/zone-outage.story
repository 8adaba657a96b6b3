00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated has the zones north, south
00:00:00.000     --- an operator applies 5 declarations
00:00:00.000     3 node/requests                answered a request with 7 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared with provider simulated, 0 workloads, zone south; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 volume/data                  declared with 64M from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     8 machine/gamma                reserved an attachment for volume data, because a volume will be attached to it (operator)
00:00:00.000     9 volume/data                  reserved for machine gamma, because it will be attached to a machine (operator)
00:00:00.000    10 volume-attachment/gamma:data declared, because it was declared and waits for its machine and storage (operator)
00:00:00.027    11 machine/alpha                provider created instance i-0005; has until 00:20:00.027 to become healthy, because the provider reported success (executor, after 4)
00:00:00.027    12 machine/beta                 provider created instance i-0006; has until 00:20:00.027 to become healthy, because the provider reported success (executor, after 5)
00:00:00.027    13 machine/gamma                provider created instance i-0007; has until 00:20:00.027 to become healthy, because the provider reported success (executor, after 6)
00:00:00.029    14 volume/data                  provider created volume v-0008 of 64M, because the provider reported success (executor, after 7)
00:00:00.029    15 supervisor/storage           ordered volume-attachment/gamma:data: attach volume v-0008 to instance i-0007, because the observed state requires it (supervisor/storage)
00:00:00.029    16 volume-attachment/gamma:data requested attachment to instance i-0007, because its machine and storage are ready (supervisor/storage, after 15)
00:00:00.034    17 supervisor/machines          provider simulated reported: new instance i-0007 of machine/gamma, new instance i-0006 of machine/beta, new instance i-0005 of machine/alpha, because the list differs from the last one (supervisor/machines)
00:00:00.034    18 supervisor/machines          provider simulated reported zone north, zone south, because the provider's zones changed (supervisor/machines)
00:00:00.047    19 volume-attachment/gamma:data provider attached it at /volumes/data, because the provider reported success (executor, after 16)
00:00:10.000    20 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    21 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    22 supervisor/storage           agents reported: volume data is device sim-80d9e9f4 on machine gamma, because the devices of machines changed (supervisor/storage)
00:00:10.000    23 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:05:00.000     --- zone south of provider simulated cannot be reached for 240.000 s
00:05:35.000    24 machine/beta                 no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:05:35.000    25 machine/gamma                no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:06:00.000     --- an operator removes machine/alpha
00:06:00.000    26 node/requests                answered a request with 1 command (operator)
00:06:00.000    27 machine/alpha                removal started; nothing depends on it any more; requested the deletion of its instance, because its removal was requested and nothing depends on it (operator)
00:06:00.036    28 machine/alpha                provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 27)
00:09:00.000    29 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:09:00.000    30 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:09:00.006    31 supervisor/machines          provider simulated reported: instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:09:05.015    32 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:30:00.000     --- all instances in zone north of provider simulated die
00:40:00.000     --- zone north of provider simulated cannot be reached for 600.000 s
00:41:00.000     --- all instances in zone south of provider simulated die
00:41:00.035    33 supervisor/machines          provider simulated reported: an instance stopped, an instance stopped; told machine/beta: instance is gone; told machine/gamma: instance is gone, because the list differs from the last one (supervisor/machines)
00:41:00.035    34 machine/beta                 instance lost; requested the deletion of its instance, because its instance is gone and the policy replaces it (supervisor/machines, after 33)
00:41:00.035    35 machine/gamma                instance lost; requested the deletion of its instance, because its instance is gone and the policy replaces it (supervisor/machines, after 33)
00:41:00.035    36 supervisor/storage           ordered volume-attachment/gamma:data: detach: the instance is going away, because the observed state requires it (supervisor/storage)
00:41:00.035    37 volume-attachment/gamma:data requested detachment, because the instance it was attached to is gone or being deleted (supervisor/storage, after 36)
00:41:00.055    38 machine/beta                 provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 34)
00:41:00.055    39 machine/gamma                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 35)
00:41:00.065    40 volume-attachment/gamma:data provider detached it, because the provider reported success; it waits for its machine and storage again (executor, after 37)
00:41:00.082    41 machine/beta                 provider created instance i-0016; has until 01:01:00.082 to become healthy, because the provider reported success (executor, after 38)
00:41:00.082    42 machine/gamma                provider created instance i-0017; has until 01:01:00.082 to become healthy, because the provider reported success (executor, after 39)
00:41:00.082    43 supervisor/storage           ordered volume-attachment/gamma:data: attach volume v-0008 to instance i-0017, because the observed state requires it (supervisor/storage)
00:41:00.082    44 volume-attachment/gamma:data requested attachment to instance i-0017, because its machine and storage are ready (supervisor/storage, after 43)
00:41:00.105    45 volume-attachment/gamma:data provider attached it at /volumes/data, because the provider reported success (executor, after 44)
00:41:05.026    46 supervisor/machines          provider simulated reported: new instance i-0016 of machine/beta, new instance i-0017 of machine/gamma, because the list differs from the last one (supervisor/machines)
00:41:10.000    47 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:41:10.000    48 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:50:00.023    49 supervisor/machines          provider simulated reported: instance of machine/gamma missing, instance of machine/beta missing, because the list differs from the last one (supervisor/machines)
00:50:05.035    50 supervisor/machines          provider simulated reported: 2 missing instances dropped, because the list differs from the last one (supervisor/machines)

converged after 2471.000 s: 50 entries, 1330 provider calls, 0 crashes, seed 23
  machine/alpha                    removed
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/gamma:data     attached
  volume/data                      reserved
journal f4e92233d3aa8da2cc927a127b656e8c6f93c96154e031e3c01ed3e72943c220
