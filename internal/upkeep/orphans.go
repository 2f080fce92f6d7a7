package upkeep

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"company/internal/container"
	"company/internal/safetext"
)

// minOrphanAge is the age from which on an ended container counts as left
// behind: a company removes its own within moments.
const minOrphanAge = time.Minute

// OrphanContainer is a container of ours that no company looks after.
type OrphanContainer struct {
	Name    string    `json:"name"`
	ID      string    `json:"id"`
	Office  string    `json:"office"`
	Run     string    `json:"run"`
	State   string    `json:"state"`
	Created time.Time `json:"created"`
	Why     string    `json:"why"`
}

// FindOrphans picks, of all containers with our labels, those without an owner:
// all of an office that no process holds, and ended ones of other offices that
// were not removed. The holder of another office is unknown.
func FindOrphans(all []container.Info, ours string, held bool, now time.Time) []OrphanContainer {
	out := []OrphanContainer{}
	for _, c := range all {
		o := OrphanContainer{Name: c.Name, ID: c.ID, Office: c.Labels.Office, Run: c.Labels.Run, State: c.State, Created: c.Created.UTC()}
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
	slices.SortFunc(out, func(a, b OrphanContainer) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// OrphansText is the containers for people, and what removes them.
func OrphansText(list []OrphanContainer) string {
	if len(list) == 0 {
		return "no container of ours is without a company\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, o := range list {
		fmt.Fprintf(table, "%s\t%.12s\t%s\t%s\t%s\n", safetext.EscapeLine(o.Name, 80), o.ID, o.State, o.Created.Format(time.RFC3339), o.Why)
	}
	_ = table.Flush() // to memory
	return b.String() + "those of this office go with its next start; remove others with: docker rm <name>\n"
}
