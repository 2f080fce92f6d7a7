package director

import (
	"fmt"
	"strings"

	"company/internal/adapters/scripted"
	"company/internal/company"
)

// Titles of the tickets. A worker knows its part by its ticket's.
const (
	volumeTitle  = "Volume discounts"
	reserveTitle = "Reservations"
	exportTitle  = "CSV export"
	reorderTitle = "Reorder list"
)

// manage looks at the project and plans two waves. A ticket that is stuck is
// given up: none of the demo's should be.
func manage(x scripted.Exchange) scripted.Reply {
	if !x.Offers("submit_plan") {
		return giveUp(x, "no ticket of this plan should come back to me")
	}
	return play(x, func(scripted.Exchange) scripted.Reply {
		return say("I look at what there is.", append(look(), call("list_files", Args{}))...)
	}, func(x scripted.Exchange) scripted.Reply {
		p, err := found(x)
		if err != nil {
			return scripted.Reply{Err: err.Error()}
		}
		if len(p.Tiers) != 2 {
			return say("The tiers are not clear.",
				call("ask_president", Args{"question": "From how many pieces on is which discount given?"}))
		}
		return say("Three parts touch different packages; the reorder list needs all of them.",
			call("submit_plan", Args{"waves": plan(p).Waves, "why": plan(p).Why}))
	})
}

func plan(p project) company.Plan {
	lines := func(l ...string) string { return strings.Join(l, "\n") }
	return company.Plan{
		Why: "discounts, reservations and the export touch different packages and don't need each other; the reorder list " +
			"builds on all three",
		Waves: []company.Wave{
			{Subtasks: []company.PlannedSubtask{{
				Title: volumeTitle,
				Description: lines(
					fmt.Sprintf("Package internal/pricing gives a discount on large orders: %s %% from %s pieces, %s %% from %s.",
						p.Tiers[1].Percent, p.Tiers[1].From, p.Tiers[0].Percent, p.Tiers[0].From),
					"", "In a new file internal/pricing/volume.go:",
					"- `func VolumePercent(qty int) int64` is the discount on that many pieces",
					fmt.Sprintf("- `func Discounted(item catalog.%s, qty int) int64` is the net price less the discount", p.Item),
					"", "Out of scope: the commands."),
				AcceptanceCriteria: []string{"VolumePercent gives each tier's discount from its first piece on",
					"Discounted rounds like the rest of the package"},
				WriteSet: []string{"internal/pricing/**"}, Effort: company.EffortMedium,
				Context: []string{"internal/pricing/pricing.go", "internal/money/money.go"},
			}, {
				Title: reserveTitle,
				Description: lines(
					"Goods can be set aside for a customer before they are shipped.",
					"", fmt.Sprintf("- %s: a kind of movement `Hold`, which leaves what is on the shelf as it is", p.LedgerFile),
					fmt.Sprintf("- internal/stock/reserve.go: `func (l *%s) Reserve(sku string, qty int, who string) error` records "+
						"a hold and refuses more than is free; `Reserved(sku string) int`; `Available(sku string) int` is what is on "+
						"hand and not reserved", p.Ledger),
					"- internal/app/reserve.go: the command `reserve SKU QTY WHO`, in the list in internal/app/commands.go and in "+
						"the table of internal/app/commands_test.go",
					"", "Out of scope: shipping what was reserved."),
				AcceptanceCriteria: []string{"no more than what is free can be reserved",
					"a reservation survives a replay of the journal", "the command reserve works"},
				WriteSet: []string{"internal/stock/**", "internal/app/reserve*.go", "internal/app/commands.go",
					"internal/app/commands_test.go"}, Effort: company.EffortMedium,
				Context: []string{p.LedgerFile, "internal/app/commands.go"},
			}, {
				Title: exportTitle,
				Description: lines(
					"What is there can be exported as CSV, for a spreadsheet.",
					"", "- internal/report/csv.go: `func (s Sheet) CSV(w io.Writer) error` writes heading and rows as RFC 4180 says",
					"- internal/app/export.go: the command `export` writes the same sheet as `list`, as CSV",
					"", "Out of scope: reading CSV."),
				AcceptanceCriteria: []string{"cells with commas and quotes survive", "the command export works"},
				WriteSet:           []string{"internal/report/**", "internal/app/export*.go"}, Effort: company.EffortMedium,
				Context: []string{"internal/report/report.go", "internal/app/shelf.go"},
			}}},
			{Subtasks: []company.PlannedSubtask{{
				Title: reorderTitle,
				Description: lines(
					"The command `reorder` lists what should be ordered, as CSV.",
					"", fmt.Sprintf(
						"- for each item of which fewer are free (`Available` of stock.%s) than its ReorderAt, order so many that "+
							"twice ReorderAt are free", p.Ledger),
					"- the price is `pricing.Discounted`; the output is `report.Sheet.CSV` with the heading sku, free, order, net",
					"- internal/app/reorder.go, and its test; in the list in internal/app/commands.go",
					"", "Out of scope: ordering."),
				AcceptanceCriteria: []string{"reserved goods count as gone", "the volume discount is taken off",
					"the command reorder works"},
				WriteSet: []string{"internal/app/**"}, Effort: company.EffortMedium,
				Context: []string{"internal/app/commands.go"},
			}}},
		},
	}
}
