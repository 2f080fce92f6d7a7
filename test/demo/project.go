package demo

import (
	"fmt"
	"go/format"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// words that the project's own names are taken from, so that no run knows the
// next one's. Each row begins with what the files say as they are committed.
var (
	stores  = []string{"stockroom", "depot", "larder", "storehouse", "pantry"}
	things  = []string{"item", "article", "asset", "object"}
	ledgers = []string{"ledger", "register", "tally", "logbook"}
	// In the order of the alphabet within a row: the project sorts by them.
	samples = [][3]string{{"bolt", "nut", "washer"}, {"anchor", "hinge", "screw"}, {"bracket", "rivet", "valve"},
		{"clamp", "gasket", "spring"}}
	taxes    = []int{20, 7, 16, 19, 21, 25}
	openings = []int{100, 120, 150, 240, 300}
)

// Names is what one seed makes of the project.
type Names struct {
	Store, Thing, Ledger string
	Samples              [3]string
	Tax, Opening         int
	// Of the instruction: so many percent from so many pieces on.
	Percent, From [2]int
}

// NamesOf draws the names and numbers of a seed.
func NamesOf(seed uint64) Names {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	small := 8 + r.IntN(13)
	return Names{
		Store: pick(r, stores), Thing: pick(r, things), Ledger: pick(r, ledgers), Samples: pick(r, samples),
		Tax: pick(r, taxes), Opening: pick(r, openings),
		Percent: [2]int{2 + r.IntN(4), 8 + r.IntN(9)}, From: [2]int{small, small + 20 + r.IntN(41)},
	}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// Instruction is what the president asks for.
func (n Names) Instruction() string {
	return fmt.Sprintf("Give volume discounts (%d %% from %d pieces, %d %% from %d), let goods be reserved for a "+
		"customer, "+
		"export what is there as CSV, and then add a reorder list that takes all three into account",
		n.Percent[0], n.From[0], n.Percent[1], n.From[1])
}

// rename puts the names into a text or a path.
func (n Names) rename(text string) string {
	// No word is both taken out and put in, so the order does not matter.
	for from, to := range map[string]string{stores[0]: n.Store, things[0]: n.Thing, ledgers[0]: n.Ledger} {
		// A plural's s goes with the word; within an identifier, the word
		// begins with a capital.
		text = regexp.MustCompile(`\b`+from+`(s?)(\b|_)`).ReplaceAllString(text, to+"$1$2")
		text = strings.ReplaceAll(text, title(from), title(to))
	}
	for i, from := range samples[0] {
		// Not only whole words: "\\n" may stand before one in a string.
		text = strings.ReplaceAll(text, from+"-", n.Samples[i]+"-")
	}
	text = strings.ReplaceAll(text, fmt.Sprintf("VATPercent = %d\n", taxes[0]), fmt.Sprintf("VATPercent = %d\n", n.Tax))
	return strings.ReplaceAll(text, fmt.Sprintf("const opening = %d\n", openings[0]),
		fmt.Sprintf("const opening = %d\n", n.Opening))
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// CopyProject copies a project under other names. It refuses to write over
// anything.
func CopyProject(from, to string, n Names) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out := []byte(n.rename(string(text)))
		if filepath.Ext(path) == ".go" {
			// Names of other lengths want other columns.
			if out, err = format.Source(out); err != nil {
				return fmt.Errorf("%s under other names: %w", rel, err)
			}
		}
		dest := filepath.Join(to, n.rename(filepath.ToSlash(rel)))
		if err := os.MkdirAll(filepath.Dir(dest), 0o755); err != nil {
			return err
		}
		f, err := os.OpenFile(dest, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		if _, err := f.Write(out); err != nil {
			_ = f.Close()
			return err
		}
		return f.Close()
	})
}
