00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     7 volume/data                  declared, create requested, because it was declared and has no storage yet (operator)
00:00:00.000     8 volume/logs                  declared, create requested, because it was declared and has no storage yet (operator)
00:00:00.000     9 machine/alpha                attachment reserved data, because a volume will be attached to it (operator)
00:00:00.000    10 volume/data                  attachment reserved alpha, because it will be attached to a machine (operator)
00:00:00.000    11 volume-attachment/alpha:data declared, because it was declared and waits for machine and volume (operator)
00:00:00.000    12 machine/beta                 attachment reserved logs, because a volume will be attached to it (operator)
00:00:00.000    13 volume/logs                  attachment reserved beta, because it will be attached to a machine (operator)
00:00:00.000    14 volume-attachment/beta:logs  declared, because it was declared and waits for machine and volume (operator)
00:00:00.013    15 volume/data                  created, because the provider reported success (executor, after 7)
00:00:00.013    16 volume/logs                  created, because the provider reported success (executor, after 8)
00:00:00.017    17 machine/alpha                created i-0008, join awaited until 00:20:00.017, because the provider reported success (executor, after 4)
00:00:00.017    18 machine/beta                 created i-0009, join awaited until 00:20:00.017, because the provider reported success (executor, after 5)
00:00:00.017    19 machine/gamma                created i-0010, join awaited until 00:20:00.017, because the provider reported success (executor, after 6)
00:00:00.017    20 supervisor/storage           issued to alpha:data: attach, issued to beta:logs: attach, because the observed state requires it (supervisor/storage)
00:00:00.017    21 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.017    22 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.047    23 volume-attachment/alpha:data attached, because the provider reported success (executor, after 22)
00:00:00.047    24 volume-attachment/beta:logs  attached, because the provider reported success (executor, after 21)
00:00:05.026    25 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
00:00:10.000    26 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:00:10.000    27 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    28 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:00:10.000    29 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    30 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:02:00.000     --- the wall clock is set forward by 86400.000 s
24:03:00.000     --- the wall clock is set back by 172800.000 s
24:05:00.000     --- the agent of alpha is silent for 120.000 s
24:05:35.000    31 machine/alpha                node went stale, became suspect until 24:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
24:07:00.000    32 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
24:20:00.000     --- all providers behave from now on

converged after 1200.000 s: 32 entries, 723 provider calls, 0 crashes, seed 13
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     attached
  volume-attachment/beta:logs      attached
  volume/data                      reserved
  volume/logs                      reserved
journal 69c29ec6bac5ba526c457fa9bf8fe819c4c58ea486d8c756c5d83c914f4f91bb
