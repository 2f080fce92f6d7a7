package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	officeapp "company/internal/app"
	"company/internal/diagnose"
	"company/internal/office"
	"company/internal/safetext"
	"company/internal/upkeep"
)

// listOrphans lists containers without a company. It removes nothing.
func (a *app) listOrphans(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, diagnose.PreflightTimeout)
	defer cancel()
	all, err := officeapp.ListContainers(ctx, a.log)
	if err != nil {
		return err
	}
	ours, held := a.currentOffice(ctx)
	list := upkeep.FindOrphans(all, ours, held, time.Now())
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "orphans": list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.out, "no container of ours is without a company")
		return err
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, o := range list {
		fmt.Fprintf(table, "%s\t%.12s\t%s\t%s\t%s\n", safetext.EscapeLine(o.Name, 80), o.ID, o.State, o.Created.Format(time.RFC3339), o.Why)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, "those of this office go with its next start; remove others with: docker rm <name>")
	return err
}

// currentOffice is the id of the office that one stands in, "" for none, and
// whether a process has it.
func (a *app) currentOffice(ctx context.Context) (id string, held bool) {
	p, err := a.findOffice()
	if err != nil || !p.Exists() {
		return "", false
	}
	off, err := a.openOffice(ctx, p)
	if err != nil {
		return "", false
	}
	defer off.Close()
	return off.ID, office.IsHeld(p)
}
