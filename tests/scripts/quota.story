00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated begins to misbehave
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
00:00:00.020    15 machine/alpha                created i-0007, join awaited until 00:20:00.020, because the provider reported success (executor, after 4)
00:00:00.020    16 machine/beta                 created i-0008, join awaited until 00:20:00.020, because the provider reported success (executor, after 5)
00:00:00.020    17 machine/gamma                create retry scheduled until 00:00:10.020 [resource-exhausted], because the failure may be transient (executor, after 6)
00:00:00.021    18 volume/data                  created, because the provider reported success (executor, after 7)
00:00:00.021    19 volume/logs                  created, because the provider reported success (executor, after 8)
00:00:00.021    20 supervisor/storage           issued to alpha:data: attach, issued to beta:logs: attach, because the observed state requires it (supervisor/storage)
00:00:00.021    21 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.021    22 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.042    23 supervisor/machines          observed 2 appeared, because the list differs from the last one (supervisor/machines)
00:00:00.048    24 volume-attachment/alpha:data attached, because the provider reported success (executor, after 22)
00:00:00.048    25 volume-attachment/beta:logs  attached, because the provider reported success (executor, after 21)
00:00:10.000    26 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:00:10.000    27 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:00:10.000    28 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    29 supervisor/storage           observed seen, because the devices of machines changed (supervisor/storage)
00:00:10.020    30 machine/gamma                attempt begun, because the next attempt is due (schedule)
00:00:10.066    31 machine/gamma                create retry scheduled until 00:00:30.066 [resource-exhausted], because the failure may be transient (executor, after 30)
00:00:30.066    32 machine/gamma                attempt begun, because the next attempt is due (schedule)
00:00:30.139    33 machine/gamma                create retry scheduled until 00:01:10.139 [resource-exhausted], because the failure may be transient (executor, after 32)
00:01:10.139    34 machine/gamma                attempt begun, because the next attempt is due (schedule)
00:01:10.198    35 machine/gamma                create retry scheduled until 00:02:30.198 [resource-exhausted], because the failure may be transient (executor, after 34)
00:02:30.198    36 machine/gamma                attempt begun, because the next attempt is due (schedule)
00:02:30.225    37 machine/gamma                create retry scheduled until 00:05:10.225 [resource-exhausted], because the failure may be transient (executor, after 36)
00:05:10.225    38 machine/gamma                attempt begun, because the next attempt is due (schedule)
00:05:10.264    39 machine/gamma                create retry scheduled until 00:08:10.264 [resource-exhausted], because the failure may be transient (executor, after 38)
00:06:00.000     --- an operator removes machine/alpha
00:06:00.000    40 node/requests                request done (operator)
00:06:00.000    41 machine/alpha                removal began, because its removal was requested and waits for its attachments (operator)
00:06:00.000    42 supervisor/storage           issued to alpha:data: remove, because the observed state requires it (supervisor/storage)
00:06:00.000    43 volume-attachment/alpha:data removal began, detach requested, because its removal was requested (supervisor/storage, after 42)
00:06:00.012    44 volume-attachment/alpha:data detached, removed, because the provider reported success and its removal was requested (executor, after 43)
00:06:00.012    45 supervisor/storage           issued to alpha: release attachment, issued to data: release attachment, because the observed state requires it (supervisor/storage)
00:06:00.012    46 machine/alpha                attachment released data, died, delete requested, because nothing depends on it any more (supervisor/storage, after 45)
00:06:00.012    47 volume/data                  attachment released alpha, because its attachment is gone (supervisor/storage, after 45)
00:06:00.045    48 machine/alpha                deleted, removed, because the provider confirmed that its instance is gone (executor, after 46)
00:06:05.035    49 supervisor/machines          observed vanished, because the list differs from the last one (supervisor/machines)
00:06:10.036    50 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:08:10.264    51 machine/gamma                attempt begun, because the next attempt is due (schedule)
00:08:10.311    52 machine/gamma                created i-0014, join awaited until 00:28:10.311, because the provider reported success (executor, after 51)
00:08:15.017    53 supervisor/machines          observed appeared, because the list differs from the last one (supervisor/machines)
00:08:20.000    54 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:40:00.000     --- an operator has everything tried again that was given up

converged after 2400.000 s: 54 entries, 737 provider calls, 0 crashes, seed 17
  machine/alpha                    removed
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     removed
  volume-attachment/beta:logs      attached
  volume/data                      available
  volume/logs                      reserved
journal 54a36d85f1ae3cbe5d6e124fb5855b32191a877555053ea17fc113a5027ea1c9
