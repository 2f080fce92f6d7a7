package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	officeapp "company/internal/app"
	"company/internal/container"
	"company/internal/office"
	"company/internal/safetext"
)

// minOrphanAge is how old a container is before its having ended says that nobody
// removes it: a company does so within moments.
const minOrphanAge = time.Minute

// orphanContainer is a container of ours that no company looks after.
type orphanContainer struct {
	Name    string    `json:"name"`
	ID      string    `json:"id"`
	Office  string    `json:"office"`
	Run     string    `json:"run"`
	State   string    `json:"state"`
	Created time.Time `json:"created"`
	Why     string    `json:"why"`
}

// listOrphans lists containers without a company. It removes nothing.
func (a *app) listOrphans(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, preflightTimeout)
	defer cancel()
	all, err := officeapp.ListContainers(ctx, a.log)
	if err != nil {
		return err
	}
	ours, held := a.currentOffice(ctx)
	list := findOrphans(all, ours, held, time.Now())
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
	if err != nil || !officeExists(p) {
		return "", false
	}
	off, err := a.openOffice(ctx, p)
	if err != nil {
		return "", false
	}
	defer off.Close()
	return off.ID, office.IsHeld(p)
}

// findOrphans picks, of all containers with our labels, those that nobody looks
// after: all of an office that no process has, and what has ended elsewhere
// and was not removed. Of another office it is not known who has it.
func findOrphans(all []container.Info, ours string, held bool, now time.Time) []orphanContainer {
	out := []orphanContainer{}
	for _, c := range all {
		o := orphanContainer{Name: c.Name, ID: c.ID, Office: c.Labels.Office, Run: c.Labels.Run, State: c.State, Created: c.Created.UTC()}
		switch {
		case c.Labels.Office == ours && ours != "" && !held:
			o.Why = "this office is not open"
		case (c.State == "exited" || c.State == "dead") && now.Sub(c.Created) > minOrphanAge:
			o.Why = "it has ended, and office " + c.Labels.Office + " has not removed it"
		default:
			continue
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b orphanContainer) int { return strings.Compare(a.Name, b.Name) })
	return out
}
