from leaps.cli import main

main()
