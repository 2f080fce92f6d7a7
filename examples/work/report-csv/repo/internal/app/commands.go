package app

// command is one thing that the program can do.
type command struct {
	name, args, help string
	need             int // arguments
	run              func(a *App, args []string) error
}

// commands in the order in which they are shown.
var commands = []command{
	{"list", "", "what is there and what it is worth", 0, list},
	{"price", "SKU QTY", "net and gross price of so many pieces", 2, price},
	{"receive", "SKU QTY", "book goods in", 2, receive},
	{"ship", "SKU QTY", "book goods out", 2, ship},
}
