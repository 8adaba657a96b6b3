00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated has the zones east, west
00:00:00.000     --- an operator applies 5 declarations
00:00:00.000     3 node/requests                answered a request with 7 commands (operator)
00:00:00.000     4 machine-class/small          declared for provider simulated, because it was declared (operator)
00:00:00.000     5 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 volume/data                  declared with 64M from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     8 machine/beta                 reserved an attachment for volume data, because a volume will be attached to it (operator)
00:00:00.000     9 volume/data                  reserved for machine beta, because it will be attached to a machine (operator)
00:00:00.000    10 volume-attachment/beta:data  declared, because it was declared and waits for its machine and storage (operator)
00:00:00.000    11 supervisor/machine-sets      ordered machine-class/small: record that machine alpha uses it, because the observed state requires it (supervisor/machine-sets)
00:00:00.000    12 machine-class/small          now used by machine alpha, because machines will be created from it (supervisor/machine-sets, after 11)
00:00:00.000    13 supervisor/machine-sets      ordered machine/alpha: use class small revision 1, because the observed state requires it (supervisor/machine-sets)
00:00:00.000    14 machine/alpha                uses class small revision 1, because its class defines how its instance is created (supervisor/machine-sets, after 13)
00:00:00.018    15 volume/data                  provider created volume v-0004 of 64M, because the provider reported success (executor, after 7)
00:00:00.019    16 supervisor/machines          provider simulated reported zone east, zone west, because the provider's zones changed (supervisor/machines)
00:00:00.029    17 machine/alpha                provider created instance i-0005; has until 00:20:00.029 to become healthy, because the provider reported success (executor, after 14)
00:00:00.038    18 machine/beta                 provider created instance i-0006; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 6)
00:00:00.038    19 supervisor/storage           ordered volume-attachment/beta:data: attach volume v-0004 to instance i-0006, because the observed state requires it (supervisor/storage)
00:00:00.038    20 volume-attachment/beta:data  requested attachment to instance i-0006, because its machine and storage are ready (supervisor/storage, after 19)
00:00:00.053    21 volume-attachment/beta:data  provider attached it at /volumes/data, because the provider reported success (executor, after 20)
00:00:05.032    22 supervisor/machines          provider simulated reported: new instance i-0005 of machine/alpha, new instance i-0006 of machine/beta, because the list differs from the last one (supervisor/machines)
00:00:10.000    23 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    24 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    25 supervisor/storage           agents reported: volume data is device sim-e3f4262f on machine beta, because the devices of machines changed (supervisor/storage)
00:05:00.000     --- an operator holds alpha: a new disk
00:05:00.000    26 node/requests                answered a request with 1 command (operator)
00:05:00.000    27 machine/alpha                held: a new disk, because an operator holds it (operator)
00:06:00.000     --- an operator holds alpha: a new disk
00:06:00.000    28 node/requests                answered a request with 1 command (operator)
00:06:00.000    29 machine/alpha                no change: hold: a new disk, because it is already held for that reason (operator)
00:07:00.000     --- an operator ends the hold of alpha
00:07:00.000    30 node/requests                answered a request with 1 command (operator)
00:07:00.000    31 machine/alpha                hold ended, because an operator ended the hold (operator)
00:08:00.000     --- an operator ends the hold of alpha
00:08:00.000    32 node/requests                answered a request with 1 command (operator)
00:08:00.000    33 machine/alpha                no change: unhold, because it is not held (operator)
00:09:00.000     --- an operator protects machine/alpha
00:09:00.000    34 node/requests                answered a request with 1 command (operator)
00:09:00.000    35 machine/alpha                protected from deletion, because a change of its protection was requested (operator)
00:10:00.000     --- an operator protects machine/alpha
00:10:00.000    36 node/requests                answered a request with 1 command (operator)
00:10:00.000    37 machine/alpha                no change: protect from deletion, because its protection did not change (operator)
00:11:00.000     --- the instance of alpha dies
00:11:00.021    38 supervisor/machines          provider simulated reported: an instance stopped; told machine/alpha: instance is gone, because the list differs from the last one (supervisor/machines)
00:11:00.021    39 machine/alpha                instance lost, because its instance is gone, and it is protected from being replaced (supervisor/machines, after 38)
00:30:00.000     --- an operator ends the protection of machine/alpha
00:30:00.000    40 node/requests                answered a request with 1 command (operator)
00:30:00.000    41 machine/alpha                no longer protected from deletion; requested the deletion of its instance, because a change of its protection was requested (operator)
00:30:00.028    42 machine/alpha                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 41)
00:30:00.036    43 supervisor/machines          provider simulated reported: instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:30:00.057    44 machine/alpha                provider created instance i-0010; has until 00:50:00.057 to become healthy, because the provider reported success (executor, after 42)
00:30:05.018    45 supervisor/machines          provider simulated reported: new instance i-0010 of machine/alpha, a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:30:10.000    46 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:31:00.000     --- an operator ends the protection of machine/alpha
00:31:00.000    47 node/requests                answered a request with 1 command (operator)
00:31:00.000    48 machine/alpha                no change: end its deletion protection, because its protection did not change (operator)
00:35:00.000     --- an operator applies 1 declaration
00:35:00.000    49 node/requests                answered a request with 1 command (operator)
00:35:00.000    50 machine-class/small          declaration changed, for provider simulated, because its declaration changed; existing machines keep what they were created from (operator)
00:40:00.000     --- an operator removes machine-class/small
00:40:00.000    51 node/requests                refused: answered a request with 1 command (operator)
00:40:00.000    52 machine-class/small          refused: remove, because machine alpha uses it; remove them first, or move them to another class (operator)
00:45:00.000     --- an operator removes volume-attachment/beta:data
00:45:00.000    53 node/requests                answered a request with 1 command (operator)
00:45:00.000    54 volume-attachment/beta:data  removal started; requested detachment, because its removal was requested (operator)
00:45:00.027    55 volume-attachment/beta:data  provider detached it; removed, because the provider reported success and its removal was requested (executor, after 54)
00:45:00.027    56 supervisor/storage           ordered machine/beta: no longer reserve an attachment for volume data; ordered volume/data: no longer reserve for machine beta, because the observed state requires it (supervisor/storage)
00:45:00.027    57 volume/data                  no longer reserved for machine beta, because its attachment there is gone (supervisor/storage, after 56)
00:45:00.027    58 machine/beta                 no longer reserves an attachment for volume data, because one of its attachments is gone (supervisor/storage, after 56)
00:45:10.000    59 supervisor/storage           agents reported: volume data has no device on machine beta, because the devices of machines changed (supervisor/storage)
00:50:00.000     --- an operator removes volume/data
00:50:00.000    60 node/requests                answered a request with 1 command (operator)
00:50:00.000    61 volume/data                  removal started; no longer attached anywhere; asked the provider to remove it, because its removal was requested and it is not attached (operator)
00:50:00.034    62 volume/data                  provider confirmed its removal; removed, because the provider reported success (executor, after 61)
00:55:00.000     --- an operator removes alpha by force
00:55:00.000    63 node/requests                answered a request with 1 command (operator)
00:55:00.000    64 machine/alpha                removal started; nothing depends on it any more; requested the deletion of its instance, because its removal was requested and nothing depends on it (operator)
00:55:00.020    65 machine/alpha                provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 64)
00:55:00.020    66 supervisor/machine-sets      ordered machine-class/small: record that machine alpha no longer uses it, because the observed state requires it (supervisor/machine-sets)
00:55:00.020    67 machine-class/small          no longer used by machine alpha, because the machines are gone, or use another class (supervisor/machine-sets, after 66)
00:55:00.034    68 supervisor/machines          provider simulated reported: instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:55:05.038    69 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
01:00:00.000     --- an operator removes machine/beta
01:00:00.000    70 node/requests                answered a request with 1 command (operator)
01:00:00.000    71 machine/beta                 removal started; nothing depends on it any more; requested the deletion of its instance, because its removal was requested and nothing depends on it (operator)
01:00:00.033    72 machine/beta                 provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 71)
01:00:05.026    73 supervisor/machines          provider simulated reported: instance of machine/beta missing, because the list differs from the last one (supervisor/machines)
01:00:10.026    74 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
01:01:00.000     --- an operator removes machine/beta
01:01:00.000    75 node/requests                answered a request with 1 command (operator)
01:01:00.000    76 machine/beta                 no change: remove, because there is nothing to remove (operator)

converged after 3660.000 s: 76 entries, 1462 provider calls, 0 crashes, seed 62
  machine-class/small              unused
  machine/alpha                    removed
  machine/beta                     removed
  volume-attachment/beta:data      removed
  volume/data                      removed
journal 9b702dc48134f755b7e9255e276a0a9bc857c915bc7b7ae28bdc671249e128c5
