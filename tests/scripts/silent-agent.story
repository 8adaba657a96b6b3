00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
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
00:00:00.013    15 volume/data                  provider created volume v-0006 of 64M, because the provider reported success (executor, after 7)
00:00:00.013    16 volume/logs                  provider created volume v-0007 of 1G, because the provider reported success (executor, after 8)
00:00:00.017    17 machine/alpha                provider created instance i-0008; has until 00:20:00.017 to become healthy, because the provider reported success (executor, after 4)
00:00:00.017    18 machine/beta                 provider created instance i-0009; has until 00:20:00.017 to become healthy, because the provider reported success (executor, after 5)
00:00:00.017    19 machine/gamma                provider created instance i-0010; has until 00:20:00.017 to become healthy, because the provider reported success (executor, after 6)
00:00:00.017    20 supervisor/storage           ordered volume-attachment/alpha:data: attach volume v-0006 to instance i-0008; ordered volume-attachment/beta:logs: attach volume v-0007 to instance i-0009, because the observed state requires it (supervisor/storage)
00:00:00.017    21 volume-attachment/beta:logs  requested attachment to instance i-0009, because its machine and storage are ready (supervisor/storage, after 20)
00:00:00.017    22 volume-attachment/alpha:data requested attachment to instance i-0008, because its machine and storage are ready (supervisor/storage, after 20)
00:00:00.047    23 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 22)
00:00:00.047    24 volume-attachment/beta:logs  provider attached it at /volumes/logs, because the provider reported success (executor, after 21)
00:00:05.026    25 supervisor/machines          provider simulated reported: new instance i-0009 of machine/beta, new instance i-0008 of machine/alpha, new instance i-0010 of machine/gamma, because the list differs from the last one (supervisor/machines)
00:00:10.000    26 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    27 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    28 supervisor/storage           agents reported: volume logs is device sim-7b521181 on machine beta, because the devices of machines changed (supervisor/storage)
00:00:10.000    29 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    30 supervisor/storage           agents reported: volume data is device sim-8005a4bd on machine alpha, because the devices of machines changed (supervisor/storage)
00:02:00.000     --- the wall clock is set forward by 86400.000 s
24:03:00.000     --- the wall clock is set back by 172800.000 s
24:05:00.000     --- the agent of alpha is silent for 120.000 s
24:05:35.000    31 machine/alpha                no health report since 24:04:50.000; its health reports stopped; it will be given up at 24:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
24:07:00.000    32 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
24:20:00.000     --- all providers behave from now on

converged after 1200.000 s: 32 entries, 723 provider calls, 0 crashes, seed 13
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     attached
  volume-attachment/beta:logs      attached
  volume/data                      reserved
  volume/logs                      reserved
journal 944d4ddc9d6ce06899d356d6e033f11391ea1b6c7773f8ddea8d13e23de3ac2b
