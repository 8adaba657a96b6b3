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
00:00:00.017    15 volume/data                  created, because the provider reported success (executor, after 7)
00:00:00.017    16 volume/logs                  created, because the provider reported success (executor, after 8)
00:00:00.033    17 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
00:00:00.039    18 machine/alpha                created i-0008, join awaited until 00:20:00.039, because the provider reported success (executor, after 4)
00:00:00.039    19 machine/beta                 created i-0009, join awaited until 00:20:00.039, because the provider reported success (executor, after 5)
00:00:00.039    20 machine/gamma                created i-0010, join awaited until 00:20:00.039, because the provider reported success (executor, after 6)
00:00:00.039    21 supervisor/storage           issued to alpha:data: attach, issued to beta:logs: attach, because the observed state requires it (supervisor/storage)
00:00:00.039    22 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 21)
00:00:00.039    23 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 21)
00:00:00.071    24 volume-attachment/alpha:data attached, because the provider reported success (executor, after 23)
00:00:00.071    25 volume-attachment/beta:logs  attached, because the provider reported success (executor, after 22)
00:00:10.000    26 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:00:10.000    27 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    28 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:00:10.000    29 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    30 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:01:00.000     --- the instance of alpha dies
00:01:00.031    31 supervisor/machines          observed status changed, issued to alpha: lost, because the list differs from the last one (supervisor/machines)
00:01:00.031    32 machine/alpha                instance lost, delete requested, because its instance is gone and the policy replaces it (supervisor/machines, after 31)
00:01:00.031    33 supervisor/storage           issued to alpha:data: detach, because the observed state requires it (supervisor/storage)
00:01:00.031    34 volume-attachment/alpha:data detach requested, because the instance it was attached to is gone or being deleted (supervisor/storage, after 33)
00:01:00.058    35 volume-attachment/alpha:data detached, because the provider reported success; it waits for machine and volume again (executor, after 34)
00:01:00.071    36 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 32)
00:01:00.102    37 machine/alpha                created i-0016, join awaited until 00:21:00.102, because the provider reported success (executor, after 36)
00:01:00.102    38 supervisor/storage           issued to alpha:data: attach, because the observed state requires it (supervisor/storage)
00:01:00.102    39 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 38)
00:01:00.129    40 volume-attachment/alpha:data attached, because the provider reported success (executor, after 39)
00:01:05.019    41 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:01:10.000    42 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:01:10.027    43 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:02:00.000     --- the instance of beta vanishes
00:02:00.026    44 supervisor/machines          observed vanished, issued to beta: lost, because the list differs from the last one (supervisor/machines)
00:02:00.026    45 machine/beta                 instance lost, delete requested, because its instance is gone and the policy replaces it (supervisor/machines, after 44)
00:02:00.026    46 supervisor/storage           issued to beta:logs: detach, because the observed state requires it (supervisor/storage)
00:02:00.026    47 volume-attachment/beta:logs  detach requested, because the instance it was attached to is gone or being deleted (supervisor/storage, after 46)
00:02:00.055    48 volume-attachment/beta:logs  detached, because the provider reported success; it waits for machine and volume again (executor, after 47)
00:02:00.063    49 machine/beta                 deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 45)
00:02:00.092    50 machine/beta                 created i-0021, join awaited until 00:22:00.092, because the provider reported success (executor, after 49)
00:02:00.092    51 supervisor/storage           issued to beta:logs: attach, because the observed state requires it (supervisor/storage)
00:02:00.092    52 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 51)
00:02:00.116    53 volume-attachment/beta:logs  attached, because the provider reported success (executor, after 52)
00:02:05.031    54 supervisor/machines          observed appeared and forgotten, because the list differs from the last one (supervisor/machines)
00:02:10.000    55 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)

converged after 131.000 s: 55 entries, 731 provider calls, 0 crashes, seed 5
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     attached
  volume-attachment/beta:logs      attached
  volume/data                      reserved
  volume/logs                      reserved
journal edb922b0c3eef91208e9ca9179bbd6332787b0d7cd36192efcd5704008479320
