00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     --- crash (before-append)
00:00:00.000     3 node/journal                 writer opened (node)
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     4 node/requests                request done (operator)
00:00:00.000     5 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/gamma                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     8 volume/data                  declared, create requested, because it was declared and has no storage yet (operator)
00:00:00.000     9 volume/logs                  declared, create requested, because it was declared and has no storage yet (operator)
00:00:00.000    10 machine/alpha                attachment reserved data, because a volume will be attached to it (operator)
00:00:00.000    11 volume/data                  attachment reserved alpha, because it will be attached to a machine (operator)
00:00:00.000    12 volume-attachment/alpha:data declared, because it was declared and waits for machine and volume (operator)
00:00:00.000    13 machine/beta                 attachment reserved logs, because a volume will be attached to it (operator)
00:00:00.000    14 volume/logs                  attachment reserved beta, because it will be attached to a machine (operator)
00:00:00.000    15 volume-attachment/beta:logs  declared, because it was declared and waits for machine and volume (operator)
00:00:00.011    16 machine/alpha                created i-0006, join awaited until 00:20:00.011, because the provider reported success (executor, after 5)
00:00:00.011    17 machine/beta                 created i-0007, join awaited until 00:20:00.011, because the provider reported success (executor, after 6)
00:00:00.011    18 machine/gamma                created i-0008, join awaited until 00:20:00.011, because the provider reported success (executor, after 7)
00:00:00.018    19 volume/data                  created, because the provider reported success (executor, after 8)
00:00:00.018    20 volume/logs                  created, because the provider reported success (executor, after 9)
00:00:00.018     --- crash (before-append)
00:00:00.018    21 node/journal                 writer opened (node)
00:00:00.018    22 supervisor/storage           issued to alpha:data: attach, issued to beta:logs: attach, because the observed state requires it (supervisor/storage)
00:00:00.018    23 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 22)
00:00:00.018    24 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 22)
00:00:00.041    25 volume-attachment/alpha:data attached, because the provider reported success (executor, after 24)
00:00:00.041    26 volume-attachment/beta:logs  attached, because the provider reported success (executor, after 23)
00:00:00.054    27 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
00:00:10.018    28 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.018    29 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:00:10.018     --- crash (after-append)
00:00:10.018    30 node/journal                 writer opened (node)
00:00:10.018    31 supervisor/storage           session began, because the node started (supervisor/storage)
00:00:10.018    32 supervisor/storage           issued to alpha:data: reattach, issued to beta:logs: reattach, because the observed state requires it (supervisor/storage)
00:00:10.018    33 volume-attachment/beta:logs  reattach requested, because it was attached before the node restarted (supervisor/storage, after 32)
00:00:10.018    34 volume-attachment/alpha:data reattach requested, because it was attached before the node restarted (supervisor/storage, after 32)
00:00:10.041    35 volume-attachment/alpha:data attached, because the provider reported success (executor, after 34)
00:00:10.041    36 volume-attachment/beta:logs  attached, because the provider reported success (executor, after 33)
00:00:20.018    37 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:00:20.018    38 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:00:20.018    39 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)

converged after 21.018 s: 39 entries, 727 provider calls, 3 crashes, seed 11
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     attached
  volume-attachment/beta:logs      attached
  volume/data                      reserved
  volume/logs                      reserved
journal 13071a145c7b0fa9f9a5e9a38e222e0d2407ebae8ac7ed067134325cc5f282e3
