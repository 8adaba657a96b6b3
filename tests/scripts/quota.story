00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated begins to misbehave
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     3 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     4 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/gamma                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 volume/data                  declared, create requested, because it was declared and has no storage yet (operator)
00:00:00.000     7 volume/logs                  declared, create requested, because it was declared and has no storage yet (operator)
00:00:00.000     8 machine/alpha                attachment reserved data, because a volume is to be attached to it (operator)
00:00:00.000     9 volume/data                  attachment reserved alpha, because it is to be attached to a machine (operator)
00:00:00.000    10 volume-attachment/alpha:data declared, because it was declared and waits for machine and volume (operator)
00:00:00.000    11 machine/beta                 attachment reserved logs, because a volume is to be attached to it (operator)
00:00:00.000    12 volume/logs                  attachment reserved beta, because it is to be attached to a machine (operator)
00:00:00.000    13 volume-attachment/beta:logs  declared, because it was declared and waits for machine and volume (operator)
00:00:00.020    14 machine/alpha                created i-0008, because the provider has made its instance (executor, after 3)
00:00:00.020    15 machine/beta                 created i-0009, because the provider has made its instance (executor, after 4)
00:00:00.020    16 machine/gamma                created i-0010, because the provider has made its instance (executor, after 5)
00:00:00.021    17 volume/data                  created, because the provider has made it (executor, after 6)
00:00:00.021    18 volume/logs                  created, because the provider has made it (executor, after 7)
00:00:00.021    19 supervisor/storage           issued to alpha:data: attach, issued to beta:logs: attach, because something follows from what is seen (supervisor/storage, after 18)
00:00:00.021    20 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 19)
00:00:00.021    21 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 19)
00:00:00.042    22 supervisor/machines          observed appeared and appeared and appeared, because the world differs from what was seen last (supervisor/machines, after 21)
00:00:00.048    23 volume-attachment/alpha:data attached, because the provider has attached it (executor, after 21)
00:00:00.048    24 volume-attachment/beta:logs  attached, because the provider has attached it (executor, after 20)
00:00:10.000    25 machine/gamma                node reported, because its agent reports what was not known (agent:machine/gamma)
00:00:10.000    26 machine/alpha                node reported, because its agent reports what was not known (agent:machine/alpha)
00:00:10.000    27 machine/beta                 node reported, because its agent reports what was not known (agent:machine/beta)
00:06:00.000     --- an operator removes machine/alpha
00:06:00.000    28 machine/alpha                removal began, because its removal was asked for and waits for its attachments (operator)
00:06:00.000    29 supervisor/storage           issued to alpha:data: remove, because something follows from what is seen (supervisor/storage, after 28)
00:06:00.000    30 volume-attachment/alpha:data removal began, detach requested, because its removal was asked for (supervisor/storage, after 29)
00:06:00.030    31 volume-attachment/alpha:data detached, removed, because the provider has detached it, and it was to be removed (executor, after 30)
00:06:00.030    32 supervisor/storage           issued to alpha: release attachment, issued to data: release attachment, because something follows from what is seen (supervisor/storage, after 31)
00:06:00.030    33 volume/data                  attachment released alpha, because its attachment is gone (supervisor/storage, after 32)
00:06:00.030    34 machine/alpha                attachment released data, died, delete requested, because nothing hangs on it any more (supervisor/storage, after 32)
00:06:00.057    35 machine/alpha                deleted, removed, because the provider confirmed that its instance is gone (executor, after 34)
00:06:05.023    36 supervisor/machines          observed vanished, because the world differs from what was seen last (supervisor/machines, after 35)
00:06:10.010    37 supervisor/machines          observed forgotten, because the world differs from what was seen last (supervisor/machines, after 36)
00:40:00.000     --- an operator has everything tried again that was given up

converged after 2400.000 s: 37 entries, 485 provider calls, 0 crashes, seed 17
  machine/alpha                    removed
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     removed
  volume-attachment/beta:logs      attached
  volume/data                      available
  volume/logs                      reserved
journal ee3439ac1b30b3dbdc4decaada92d26011369817a1aab6017ac66be4259aa899
