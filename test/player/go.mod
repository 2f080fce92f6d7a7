module company/test/player

go 1.26.0
