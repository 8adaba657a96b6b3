00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 1 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.041     5 machine/alpha                created i-0002, join awaited until 00:20:00.041, because the provider reported success (executor, after 4)
00:00:05.020     6 supervisor/machines          observed appeared, because the list differs from the last one (supervisor/machines)
00:00:10.000     7 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:02:00.000     --- an operator disowns the instance of alpha
00:02:00.000     8 node/requests                request done (operator)
00:02:00.000     9 machine/alpha                instance left, because an operator disowned its instance (operator)
00:10:00.000     --- an operator gives alpha an instance
00:10:00.000    10 node/requests                request done (operator)
00:10:00.000    11 machine/alpha                adopted i-0002, join awaited until 00:30:00.000, because an operator assigned it an unmanaged instance (operator)
00:10:10.000    12 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:20:00.000     --- an operator holds alpha: the disk is being looked at
00:20:00.000    13 node/requests                request done (operator)
00:20:00.000    14 machine/alpha                held, because an operator holds it (operator)
00:21:00.000     --- the instance of alpha dies
00:21:00.041    15 supervisor/machines          observed status changed, issued to alpha: lost, because the list differs from the last one (supervisor/machines)
00:21:00.041    16 machine/alpha                instance lost, withheld, because it is held, and the step is only noted (supervisor/machines, after 15)
00:40:00.000     --- the node is killed
00:40:00.000     --- crash (now)
00:40:00.000    17 node/journal                 writer opened (node)
00:50:00.000     --- an operator ends the hold of alpha
00:50:00.000    18 node/requests                request done (operator)
00:50:00.000    19 machine/alpha                hold ended, delete requested, because an operator ended the hold (operator)
00:50:00.023    20 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 19)
00:50:00.059    21 machine/alpha                created i-0005, join awaited until 01:10:00.059, because the provider reported success (executor, after 20)
00:50:05.033    22 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:50:10.000    23 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:50:10.029    24 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)

converged after 3011.000 s: 24 entries, 1326 provider calls, 1 crashes, seed 22
  machine/alpha                    ready
journal dab6288bba43d37fc78f07d23ee1d2b8c5b1ed00f8fe238a9081f2c7aa9830f5
