00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     --- crash (before-append)
00:00:00.000     3 node/journal                 opened the journal after an unclean stop (start 2) (node)
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     4 node/requests                answered a request with 11 commands (operator)
00:00:00.000     5 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/gamma                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     8 volume/data                  declared with 64M from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     9 volume/logs                  declared with 1G from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000    10 machine/alpha                reserved an attachment for volume data, because a volume will be attached to it (operator)
00:00:00.000    11 volume/data                  reserved for machine alpha, because it will be attached to a machine (operator)
00:00:00.000    12 volume-attachment/alpha:data declared, because it was declared and waits for its machine and storage (operator)
00:00:00.000    13 machine/beta                 reserved an attachment for volume logs, because a volume will be attached to it (operator)
00:00:00.000    14 volume/logs                  reserved for machine beta, because it will be attached to a machine (operator)
00:00:00.000    15 volume-attachment/beta:logs  declared, because it was declared and waits for its machine and storage (operator)
00:00:00.011    16 machine/alpha                provider created instance i-0006; has until 00:20:00.011 to become healthy, because the provider reported success (executor, after 5)
00:00:00.011    17 machine/beta                 provider created instance i-0007; has until 00:20:00.011 to become healthy, because the provider reported success (executor, after 6)
00:00:00.011    18 machine/gamma                provider created instance i-0008; has until 00:20:00.011 to become healthy, because the provider reported success (executor, after 7)
00:00:00.018    19 volume/data                  provider created volume v-0009 of 64M, because the provider reported success (executor, after 8)
00:00:00.018    20 volume/logs                  provider created volume v-0010 of 1G, because the provider reported success (executor, after 9)
00:00:00.018     --- crash (before-append)
00:00:00.018    21 node/journal                 opened the journal after an unclean stop (start 3) (node)
00:00:00.018    22 supervisor/storage           ordered volume-attachment/alpha:data: attach volume v-0009 to instance i-0006; ordered volume-attachment/beta:logs: attach volume v-0010 to instance i-0007, because the observed state requires it (supervisor/storage)
00:00:00.018    23 volume-attachment/beta:logs  requested attachment to instance i-0007, because its machine and storage are ready (supervisor/storage, after 22)
00:00:00.018    24 volume-attachment/alpha:data requested attachment to instance i-0006, because its machine and storage are ready (supervisor/storage, after 22)
00:00:00.041    25 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 24)
00:00:00.041    26 volume-attachment/beta:logs  provider attached it at /volumes/logs, because the provider reported success (executor, after 23)
00:00:00.054    27 supervisor/machines          provider simulated reported: new instance i-0006 of machine/alpha, new instance i-0008 of machine/gamma, new instance i-0007 of machine/beta, because the list differs from the last one (supervisor/machines)
00:00:10.018    28 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.018    29 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:00:10.018     --- crash (after-append)
00:00:10.018    30 node/journal                 opened the journal after an unclean stop (start 4) (node)
00:00:10.018    31 supervisor/storage           began a new session, because the node started (supervisor/storage)
00:00:10.018    32 supervisor/storage           ordered volume-attachment/alpha:data: verify that it is still attached; ordered volume-attachment/beta:logs: verify that it is still attached, because the observed state requires it (supervisor/storage)
00:00:10.018    33 volume-attachment/beta:logs  verifying that it is still attached, because it was attached before the node restarted (supervisor/storage, after 32)
00:00:10.018    34 volume-attachment/alpha:data verifying that it is still attached, because it was attached before the node restarted (supervisor/storage, after 32)
00:00:10.041    35 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 34)
00:00:10.041    36 volume-attachment/beta:logs  provider attached it at /volumes/logs, because the provider reported success (executor, after 33)
00:00:20.018    37 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:20.018    38 supervisor/storage           agents reported: volume data is device sim-865dcd36 on machine alpha, because the devices of machines changed (supervisor/storage)
00:00:20.018    39 supervisor/storage           agents reported: volume logs is device sim-21971f14 on machine beta, because the devices of machines changed (supervisor/storage)

converged after 21.018 s: 39 entries, 727 provider calls, 3 crashes, seed 11
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     attached
  volume-attachment/beta:logs      attached
  volume/data                      reserved
  volume/logs                      reserved
journal d7ca88006897061481a37bf8ec86c1bcdd8247333ffd51ccb7cad5f68d5f6db8
