package upkeep

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"company/internal/container"
	"company/internal/lib/safetext"
)

// minOrphanAge is the minimum age of an ended container that counts as left behind. A company removes its own within
// moments.
const minOrphanAge = time.Minute

// OrphanContainer is one of our containers that no company manages.
type OrphanContainer struct {
	Name    string    `json:"name"`
	ID      string    `json:"id"`
	Office  string    `json:"office"`
	Run     string    `json:"run"`
	State   string    `json:"state"`
	Created time.Time `json:"created"`
	Why     string    `json:"why"`
}

// FindOrphans selects, of all containers with our labels, those without an owner. These are all containers of this
// office if no process holds it, and ended ones of other offices that were not removed. It is not known whether
// another office is held.
func FindOrphans(all []container.Info, ours string, held bool, now time.Time) []OrphanContainer {
	out := []OrphanContainer{}
	for _, info := range all {
		o := OrphanContainer{Name: info.Name, ID: info.ID, Office: info.Labels.Office, Run: info.Labels.Run,
			State:   info.State,
			Created: info.Created.UTC()}
		switch {
		case info.Labels.Office == ours && ours != "" && !held:
			o.Why = "this office is not open"
		case (info.State == "exited" || info.State == "dead") && now.Sub(info.Created) > minOrphanAge:
			o.Why = "it has ended, and office " + info.Labels.Office + " has not removed it"
		default:
			continue
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b OrphanContainer) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// OrphansText lists the containers as text, and explains how to remove them.
func OrphansText(list []OrphanContainer) string {
	if len(list) == 0 {
		return "no container of ours is without a company\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, o := range list {
		fmt.Fprintf(table, "%s\t%.12s\t%s\t%s\t%s\n", safetext.EscapeLine(o.Name, 80), o.ID, o.State,
			o.Created.Format(time.RFC3339), o.Why)
	}
	_ = table.Flush() // to memory
	return b.String() + "those of this office go with its next start; remove others with: docker rm <name>\n"
}
