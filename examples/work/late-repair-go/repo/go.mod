module example.com/toolshed

go 1.24
