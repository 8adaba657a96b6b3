00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
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
00:00:00.017    14 volume/data                  created, because the provider has made it (executor, after 6)
00:00:00.017    15 volume/logs                  created, because the provider has made it (executor, after 7)
00:00:00.033    16 supervisor/machines          observed appeared and appeared and appeared, because the world differs from what was seen last (supervisor/machines, after 15)
00:00:00.039    17 machine/alpha                created i-0008, because the provider has made its instance (executor, after 3)
00:00:00.039    18 machine/beta                 created i-0009, because the provider has made its instance (executor, after 4)
00:00:00.039    19 machine/gamma                created i-0010, because the provider has made its instance (executor, after 5)
00:00:00.039    20 supervisor/storage           issued to alpha:data: attach, issued to beta:logs: attach, because something follows from what is seen (supervisor/storage, after 19)
00:00:00.039    21 volume-attachment/beta:logs  attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.039    22 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 20)
00:00:00.071    23 volume-attachment/alpha:data attached, because the provider has attached it (executor, after 22)
00:00:00.071    24 volume-attachment/beta:logs  attached, because the provider has attached it (executor, after 21)
00:00:10.000    25 machine/gamma                node reported, because its agent reports what was not known (agent:machine/gamma)
00:00:10.000    26 machine/alpha                node reported, because its agent reports what was not known (agent:machine/alpha)
00:00:10.000    27 machine/beta                 node reported, because its agent reports what was not known (agent:machine/beta)
00:01:00.000     --- the instance of alpha dies
00:01:00.031    28 supervisor/machines          observed status changed, issued to alpha: lost, because the world differs from what was seen last (supervisor/machines, after 27)
00:01:00.031    29 machine/alpha                instance lost, delete requested, because its instance has gone and the policy replaces it (supervisor/machines, after 28)
00:01:00.031    30 supervisor/storage           issued to alpha:data: detach, because something follows from what is seen (supervisor/storage, after 29)
00:01:00.031    31 volume-attachment/alpha:data detach requested, because the instance that it was attached to is going or gone (supervisor/storage, after 30)
00:01:00.058    32 volume-attachment/alpha:data detached, because the provider has detached it, and it waits for machine and volume again (executor, after 31)
00:01:00.071    33 machine/alpha                deleted, create requested, because the remains of the lost instance are gone, so another one is made (executor, after 29)
00:01:00.102    34 machine/alpha                created i-0016, because the provider has made its instance (executor, after 33)
00:01:00.102    35 supervisor/storage           issued to alpha:data: attach, because something follows from what is seen (supervisor/storage, after 34)
00:01:00.102    36 volume-attachment/alpha:data attach requested, because machine and volume are ready (supervisor/storage, after 35)
00:01:00.129    37 volume-attachment/alpha:data attached, because the provider has attached it (executor, after 36)
00:01:05.019    38 supervisor/machines          observed appeared and vanished, because the world differs from what was seen last (supervisor/machines, after 37)
00:01:10.000    39 machine/alpha                node reported, because its agent reports what was not known (agent:machine/alpha)
00:01:10.027    40 supervisor/machines          observed forgotten, because the world differs from what was seen last (supervisor/machines, after 39)
00:02:00.000     --- the instance of beta vanishes

converged after 120.000 s: 40 entries, 31 provider calls, 0 crashes, seed 5
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     attached
  volume-attachment/beta:logs      attached
  volume/data                      reserved
  volume/logs                      reserved
journal 101145e05ed83dccb4fd2e04ce6b29b79df8e2561f1b79ca1a20c4a5520ab6ff
