00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated has the zones a, b, c
00:00:00.000     --- an operator applies 6 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 space/inner                  declared, because it was not declared before (operator)
00:00:00.000     5 application/shop             declared, because it was not declared before (operator)
00:00:00.000     6 machine/one                  declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/two                  declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     8 machine/imaged               declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     9 machine/plain                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000    10 machine/one                  unit assigned shop, because an application needs a unit on it (operator)
00:00:00.000    11 machine/two                  unit assigned shop, because an application needs a unit on it (operator)
00:00:00.000    12 supervisor/machines          issued to imaged: refuse start, issued to one: refuse start, issued to two: refuse start, because the observed state requires it (supervisor/machines)
00:00:00.000    13 machine/imaged               start refused no image, because something it needs to start is missing (supervisor/machines, after 12)
00:00:00.000    14 machine/two                  start refused empty space inner, because something it needs to start is missing (supervisor/machines, after 12)
00:00:00.000    15 machine/one                  start refused empty space inner, because something it needs to start is missing (supervisor/machines, after 12)
00:00:00.019    16 machine/plain                created i-0002, join awaited until 00:20:00.019, because the provider reported success (executor, after 9)
00:00:00.021    17 supervisor/machines          zones listed, because the provider's zones changed (supervisor/machines)
00:00:05.039    18 supervisor/machines          observed appeared, because the list differs from the last one (supervisor/machines)
00:00:10.000    19 machine/plain                node reported, became well, because the report differs from the last one (agent:machine/plain)
00:05:00.000     --- an operator applies 1 declarations
00:05:00.000    20 node/requests                request done (operator)
00:05:00.000    21 subnet/inner-ab              declared, because it was not declared before (operator)
00:05:00.000    22 supervisor/machines          issued to one: prepare, issued to two: prepare, because the observed state requires it (supervisor/machines)
00:05:00.000    23 machine/one                  start prepared, because everything it needs to start is there (supervisor/machines, after 22)
00:05:00.000    24 machine/two                  start prepared, because everything it needs to start is there (supervisor/machines, after 22)
00:05:00.000    25 supervisor/machines          issued to one: site, issued to two: site, because the observed state requires it (supervisor/machines)
00:05:00.000    26 machine/one                  sited, because the zone for its instance was chosen (supervisor/machines, after 25)
00:05:00.000    27 machine/two                  sited, because the zone for its instance was chosen (supervisor/machines, after 25)
00:05:00.023    28 machine/one                  created i-0005, join awaited until 00:25:00.023, because the provider reported success (executor, after 26)
00:05:00.023    29 machine/two                  created i-0006, join awaited until 00:25:00.023, because the provider reported success (executor, after 27)
00:05:05.025    30 supervisor/machines          observed 2 appeared, because the list differs from the last one (supervisor/machines)
00:05:10.000    31 machine/one                  node reported, became well, because the report differs from the last one (agent:machine/one)
00:05:10.000    32 machine/two                  node reported, became well, because the report differs from the last one (agent:machine/two)
00:06:00.000     --- the node is killed
00:06:00.000     --- crash (now)
00:06:00.000    33 node/journal                 writer opened (node)
00:10:00.000     --- an operator applies 1 declarations
00:10:00.000    34 node/requests                request done (operator)
00:10:00.000    35 image-metadata/jammy         declared, because it was not declared before (operator)
00:10:00.000    36 supervisor/machines          issued to imaged: prepare, because the observed state requires it (supervisor/machines)
00:10:00.000    37 machine/imaged               start prepared, because everything it needs to start is there (supervisor/machines, after 36)
00:10:00.026    38 supervisor/machines          observed appeared, because the list differs from the last one (supervisor/machines)
00:10:00.027    39 machine/imaged               created i-0008, join awaited until 00:30:00.027, because the provider reported success (executor, after 37)
00:10:10.000    40 machine/imaged               node reported, became well, because the report differs from the last one (agent:machine/imaged)

converged after 611.000 s: 40 entries, 723 provider calls, 1 crashes, seed 31
  machine/imaged                   ready
  machine/one                      ready
  machine/plain                    ready
  machine/two                      ready
journal 0ec182311c5d655d1c6b9dfef43932268a26d30123d34645d5509b2799914675
