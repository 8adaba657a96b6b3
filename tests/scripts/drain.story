00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 6 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 policy/default               revised, because the settings differ from those in force (operator)
00:00:00.000     5 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/gamma                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     8 volume/data                  declared, create requested, because it was declared and has no storage yet (operator)
00:00:00.000     9 machine/alpha                attachment reserved data, because a volume will be attached to it (operator)
00:00:00.000    10 volume/data                  attachment reserved alpha, because it will be attached to a machine (operator)
00:00:00.000    11 volume-attachment/alpha:data declared, because it was declared and waits for machine and volume (operator)
00:00:00.023    12 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
00:00:00.023    13 machine/alpha                created i-0005, join awaited until 00:20:00.023, because the provider reported success (executor, after 5)
00:00:00.023    14 machine/beta                 created i-0006, join awaited until 00:20:00.023, because the provider reported success (executor, after 6)
00:00:00.023    15 machine/gamma                created i-0007, join awaited until 00:20:00.023, because the provider reported success (executor, after 7)
00:00:00.030    16 volume/data                  created, because the provider reported success (executor, after 8)
00:00:00.030    17 supervisor/storage           issued to alpha:data: attach, because the observed state requires it (supervisor/storage)
00:00:00.030    18 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 17)
00:00:00.044    19 volume-attachment/alpha:data attached, because the provider reported success (executor, after 18)
00:00:10.000    20 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    21 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    22 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:00:10.000    23 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:05:00.000     --- what runs on beta does not end any more
00:05:00.000     --- what runs on gamma does not end any more
00:06:00.000     --- an operator removes machine/alpha
00:06:00.000    24 node/requests                request done (operator)
00:06:00.000    25 machine/alpha                removal began, drain began until 00:16:00.000, because its removal was requested, and its workloads stop first (operator)
00:06:00.000     --- an operator removes machine/beta
00:06:00.000    26 node/requests                request done (operator)
00:06:00.000    27 machine/beta                 removal began, drain began until 00:16:00.000, because its removal was requested, and its workloads stop first (operator)
00:06:00.000     --- an operator removes machine/gamma
00:06:00.000    28 node/requests                request done (operator)
00:06:00.000    29 machine/gamma                removal began, drain began until 00:16:00.000, because its removal was requested, and its workloads stop first (operator)
00:06:20.000    30 machine/alpha                drain ended, because all its workloads stopped (agent:machine/alpha)
00:06:20.000    31 supervisor/storage           issued to alpha:data: remove, because the observed state requires it (supervisor/storage)
00:06:20.000    32 volume-attachment/alpha:data removal began, detach requested, because its removal was requested (supervisor/storage, after 31)
00:06:20.045    33 volume-attachment/alpha:data detached, removed, because the provider reported success and its removal was requested (executor, after 32)
00:06:20.045    34 supervisor/storage           issued to alpha: release attachment, issued to data: release attachment, because the observed state requires it (supervisor/storage)
00:06:20.045    35 volume/data                  attachment released alpha, because its attachment is gone (supervisor/storage, after 34)
00:06:20.045    36 machine/alpha                attachment released data, died, delete requested, because nothing depends on it any more (supervisor/storage, after 34)
00:06:20.074    37 machine/alpha                deleted, removed, because the provider confirmed that its instance is gone (executor, after 36)
00:06:25.010    38 supervisor/machines          observed vanished, because the list differs from the last one (supervisor/machines)
00:06:30.028    39 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:07:00.000     --- the agent of gamma is silent for 3600.000 s
00:07:35.000    40 machine/gamma                node went stale, drain ended, died, delete requested, because its agent was silent for longer than the policy allows (supervisor/machines)
00:07:35.010    41 supervisor/machines          observed vanished, because the list differs from the last one (supervisor/machines)
00:07:35.012    42 machine/gamma                deleted, removed, because the provider confirmed that its instance is gone (executor, after 40)
00:07:40.017    43 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:08:00.000     --- the node loses power
00:08:00.000     --- crash (now)
00:08:00.000    44 node/journal                 writer opened (node)
00:16:00.000    45 machine/beta                 drain ended, died, delete requested, because its workloads did not stop in time (schedule)
00:16:00.027    46 machine/beta                 deleted, removed, because the provider confirmed that its instance is gone (executor, after 45)
00:16:00.029    47 supervisor/machines          observed returned, because the list differs from the last one (supervisor/machines)
00:16:05.023    48 supervisor/machines          observed vanished, because the list differs from the last one (supervisor/machines)
00:16:10.027    49 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
01:30:00.000     --- all providers behave from now on

converged after 5400.000 s: 49 entries, 1807 provider calls, 1 crashes, seed 41
  machine/alpha                    removed
  machine/beta                     removed
  machine/gamma                    removed
  volume-attachment/alpha:data     removed
  volume/data                      available
journal 32cc06e715f58eccdd3f3a452216fb8a11327b3f55c86544b7b4daf415081ecc
