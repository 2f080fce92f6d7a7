package director

import (
	"fmt"
	"regexp"
	"strings"

	"company/internal/adapters/scripted"
)

// work plays the worker of a ticket: its own part at first, and a repair when
// the brief says what is wrong with it.
func work(x scripted.Exchange) scripted.Reply {
	again := section(x.Brief(), "Why you are here again")
	switch {
	case strings.Contains(again, "<gate_output>"):
		return repairGate(x, again)
	case strings.Contains(again, "The reviewer requests changes"):
		return repairFinding(x, again)
	case again != "":
		return giveUp(x, "this was not foreseen: "+again)
	}
	switch x.Header.Title {
	case volumeTitle:
		return volume(x)
	case reserveTitle:
		return reserve(x)
	case exportTitle:
		return export(x)
	case reorderTitle:
		return reorder(x)
	}
	return giveUp(x, fmt.Sprintf("nobody here knows the ticket %q", x.Header.Title))
}

const (
	commandsFile = "internal/app/commands.go"
	commandsTest = "internal/app/commands_test.go"
)

var (
	commandLine = regexp.MustCompile(`^\t\{"\w+", ".*\},$`)
	caseLine    = regexp.MustCompile(`^\t\t\{"\w+", ".*\},$`)
)

// volume writes the discounts. Its loop is wrong at the very edge of a tier,
// and it only compiles what it wrote: the gate is the first to run the test.
func volume(x scripted.Exchange) scripted.Reply {
	return play(x, func(scripted.Exchange) scripted.Reply {
		return say("I read what a price is made of.", append(look(),
			call("read_file", Args{"path": "internal/pricing/pricing.go"}),
			call("read_file", Args{"path": "internal/money/money.go"}))...)
	}, func(x scripted.Exchange) scripted.Reply {
		p, err := found(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		return say("The tiers go into a table, the largest first.", p.write("internal/pricing/volume.go", "volume"),
			p.write("internal/pricing/volume_test.go", "volume_test"))
	}, run("go build ./... && go vet ./internal/pricing"), commit("Give volume discounts"),
		finish("VolumePercent and Discounted are there, with a table test over the edges of both tiers; it builds and vets."))
}

// reserve writes the reservations, and drops an error on the way that only a
// reader notices.
func reserve(x scripted.Exchange) scripted.Reply {
	return play(x, func(scripted.Exchange) scripted.Reply {
		return say("I look for the kinds of movements and for the commands.", append(look(),
			call("read_file", Args{"path": commandsFile}), call("read_file", Args{"path": commandsTest}))...)
	}, func(x scripted.Exchange) scripted.Reply {
		p, err := found(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		return say("The journal's own file next.", call("read_file", Args{"path": p.LedgerFile}))
	}, func(x scripted.Exchange) scripted.Reply {
		p, err := found(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		list, err1 := after(x, commandsFile, commandLine,
			"\t{\"reserve\", \"SKU QTY WHO\", \"set goods aside for a customer\", 3, reserve},")
		row, err2 := after(x, commandsTest, caseLine,
			fmt.Sprintf("\t\t{\"reserve\", \"reserve %s 5 anna\", fmt.Sprintf(\"%s: %%d of %%d free\\n\", opening-5, opening)},",
				p.SKU, p.SKU))
		if err1 != nil || err2 != nil {
			return giveUp(x, fmt.Sprint(err1, err2))
		}
		return say("A hold is a movement that leaves the shelf as it is.",
			call("edit_file",
				Args{"path": p.LedgerFile, "old": "\tOut Kind = \"out\"\n",
					"new": "\tOut Kind = \"out\"\n\t// Hold sets goods aside; they stay on the shelf.\n\tHold Kind = \"hold\"\n"}),
			call("edit_file", Args{"path": p.LedgerFile, "old": "\tOut: -1,\n", "new": "\tOut: -1,\n\tHold: 0,\n"}),
			p.write("internal/stock/reserve.go", "reserve"), p.write("internal/stock/reserve_test.go", "reserve_test"),
			p.write("internal/app/reserve.go", "app_reserve"), list, row)
	}, run("gofmt -w internal/stock && go test ./internal/..."), commit("Set goods aside for a customer"),
		finish("reserve works and its tests pass; what is reserved is a movement in the journal."))
}

// export writes the CSV export, and finds that nobody can call it as the
// ticket stands: it registers the command outside of its write set.
func export(x scripted.Exchange) scripted.Reply {
	return play(x, func(scripted.Exchange) scripted.Reply {
		return say("I read how sheets are made and shown.", append(look(),
			call("read_file", Args{"path": "internal/report/report.go"}),
			call("read_file", Args{"path": "internal/app/shelf.go"}))...)
	}, func(x scripted.Exchange) scripted.Reply {
		p, err := found(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		return say("encoding/csv does the quoting.", p.write("internal/report/csv.go", "csv"),
			p.write("internal/report/csv_test.go", "csv_test"), p.write("internal/app/export.go", "app_export"),
			call("read_file", Args{"path": commandsFile}), call("read_file", Args{"path": commandsTest}))
	}, func(x scripted.Exchange) scripted.Reply {
		list, err1 := after(x, commandsFile, commandLine, "\t{\"export\", \"\", \"what is there, as CSV\", 0, export},")
		row, err2 := after(x, commandsTest, caseLine, "\t\t{\"export\", \"export\", \"sku,name,on hand,worth\\n\"},")
		if err1 != nil || err2 != nil {
			return giveUp(x, fmt.Sprint(err1, err2))
		}
		return say("Nothing calls export: it has to stand in the list of commands, which is not in my write set. The work "+
			"cannot be done otherwise.", list, row)
	}, run("go test ./internal/..."),
		commit("Export what is there as CSV\n\nThe command is registered in "+commandsFile+
			", outside of the write set: nobody could call it otherwise."),
		finish("export works and its tests pass. I had to touch "+commandsFile+
			" and its test, which are not in my write set."))
}

// reorder builds on what the first wave merged.
func reorder(x scripted.Exchange) scripted.Reply {
	return play(x, func(scripted.Exchange) scripted.Reply {
		return say("I look at what the others left me.", append(look(),
			call("read_file", Args{"path": commandsFile}),
			call("search", Args{"pattern": `^func .*(Available|Discounted|CSV)\(`, "glob": "internal/**/*.go"}))...)
	}, func(x scripted.Exchange) scripted.Reply {
		p, err := found(x)
		if err != nil {
			return giveUp(x, err.Error())
		}
		last, _ := x.LastResult("search")
		for _, needed := range []string{"Available(", "Discounted(", "CSV("} {
			if !strings.Contains(last, needed) {
				return giveUp(x, needed+" is missing: the first wave is not there")
			}
		}
		list, err := after(x, commandsFile, commandLine,
			"\t{\"reorder\", \"\", \"what should be ordered, as CSV\", 0, reorder},")
		if err != nil {
			return giveUp(x, err.Error())
		}
		return say("All three parts are there.", p.write("internal/app/reorder.go", "app_reorder"),
			p.write("internal/app/reorder_test.go", "app_reorder_test"), list)
	}, run("go test ./internal/..."), commit("List what should be ordered"),
		finish("reorder lists what to order, and its tests pass."))
}

func run(command string) step {
	return func(scripted.Exchange) scripted.Reply {
		return say("", call("run_command", Args{"command": command}))
	}
}

func commit(message string) step {
	return func(scripted.Exchange) scripted.Reply {
		return say("", call("git_commit", Args{"message": message}))
	}
}

func finish(summary string) step {
	return func(scripted.Exchange) scripted.Reply {
		return say("", call("finish", Args{"summary": summary}))
	}
}
