package steps

import (
	"errors"
	"testing"
)

func TestThereAndBack(t *testing.T) {
	for text, want := range map[string]string{
		"where  price over 10|first 3": "where price over 10 | first 3",
		`where "name" is "blue rope"`:  `where name is "blue rope"`,
		`where name is "a \"b\" \\"`:   `where name is "a \"b\" \\"`,
		`where name is ""`:             `where name is ""`,
		`keep name,"a, b" , price`:     `keep name, "a, b", price`,
		"sort price down | sort down":  "sort price down | sort down",
		"count place":                  "count place",
	} {
		steps, err := Parse(text)
		if err != nil || Show(steps) != want {
			t.Errorf("%s: %v, %s", text, err, Show(steps))
			continue
		}
		if again, err := Parse(want); err != nil || Show(again) != want {
			t.Errorf("%s: %v, %s", want, err, Show(again))
		}
	}
}

func TestFaultsNameTheirColumn(t *testing.T) {
	for text, want := range map[string]int{
		"":                       1,
		"sieve all":              1,
		"where":                  6,
		"where price above 3":    13,
		`where price "is" 3`:     13,
		"where price is":         15,
		"where price is 3 4":     18,
		"where price is, 3":      15,
		`where größe is "x`:      16,
		"sort name | ":           13,
		`sort ""`:                6,
		"keep name, price, name": 19,
		"keep name,":             11,
		"first":                  6,
		"first 0":                7,
		"first two":              7,
	} {
		var fault *Fault
		if _, err := Parse(text); !errors.As(err, &fault) || fault.Column != want {
			t.Errorf("%q: %v, want column %d", text, err, want)
		}
	}
}
