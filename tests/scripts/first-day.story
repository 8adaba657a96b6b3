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
00:00:00.021    15 volume/data                  created, because the provider reported success (executor, after 7)
00:00:00.021    16 volume/logs                  created, because the provider reported success (executor, after 8)
00:00:00.030    17 machine/alpha                created i-0008, join awaited until 00:20:00.030, because the provider reported success (executor, after 4)
00:00:00.030    18 machine/beta                 created i-0009, join awaited until 00:20:00.030, because the provider reported success (executor, after 5)
00:00:00.030    19 machine/gamma                created i-0010, join awaited until 00:20:00.030, because the provider reported success (executor, after 6)
00:00:00.030    20 supervisor/storage           issued to alpha:data: attach, issued to beta:logs: attach, because the observed state requires it (supervisor/storage)
00:00:00.030    21 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.030    22 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.043    23 volume-attachment/alpha:data attached, because the provider reported success (executor, after 22)
00:00:00.043    24 volume-attachment/beta:logs  attached, because the provider reported success (executor, after 21)
00:00:05.031    25 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
00:00:10.000    26 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    27 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    28 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:00:10.000    29 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:00:10.000    30 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:01:00.000     --- an operator removes machine/alpha
00:01:00.000    31 node/requests                request done (operator)
00:01:00.000    32 machine/alpha                removal began, because its removal was requested and waits for its attachments (operator)
00:01:00.000    33 supervisor/storage           issued to alpha:data: remove, because the observed state requires it (supervisor/storage)
00:01:00.000    34 volume-attachment/alpha:data removal began, detach requested, because its removal was requested (supervisor/storage, after 33)
00:01:00.043    35 volume-attachment/alpha:data detached, removed, because the provider reported success and its removal was requested (executor, after 34)
00:01:00.043    36 supervisor/storage           issued to alpha: release attachment, issued to data: release attachment, because the observed state requires it (supervisor/storage)
00:01:00.043    37 machine/alpha                attachment released data, died, delete requested, because nothing depends on it any more (supervisor/storage, after 36)
00:01:00.043    38 volume/data                  attachment released alpha, because its attachment is gone (supervisor/storage, after 36)
00:01:00.064    39 machine/alpha                deleted, removed, because the provider confirmed that its instance is gone (executor, after 37)
00:01:05.028    40 supervisor/machines          observed vanished, because the list differs from the last one (supervisor/machines)
00:01:10.015    41 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)

converged after 61.000 s: 41 entries, 125 provider calls, 0 crashes, seed 1
  machine/alpha                    removed
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     removed
  volume-attachment/beta:logs      attached
  volume/data                      available
  volume/logs                      reserved
journal 928c4ff2cbfb43629280f7741514ce4c818f86685ed7129549582a17a213bee8
