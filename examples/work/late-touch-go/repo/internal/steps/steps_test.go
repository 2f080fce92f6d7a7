package steps

import (
	"strings"
	"testing"

	"example.com/sieve/internal/table"
)

const goods = `name,place,price
saw,cellar,20
rope,attic,4.5
hoe,cellar,9
nails,attic,4.50
paint,,none
`

// sieve does steps on the goods, and writes the table.
func sieve(t *testing.T, text string) (string, error) {
	t.Helper()
	steps, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	in, err := table.Read(strings.NewReader(goods))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Apply(steps, in)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	if err := got.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String(), nil
}

// names are the values of the first column.
func names(written string) string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(written), "\n")[1:] {
		name, _, _ := strings.Cut(line, ",")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func TestRowsAndTheirOrder(t *testing.T) {
	for text, want := range map[string]string{
		"where place is cellar": "saw hoe",
		`where place is ""`:     "paint",
		"where price is 4.5":    "rope nails",
		"where price over 9":    "saw paint",
		"where price under 9":   "rope nails",
		"sort price":            "rope nails hoe saw paint",
		"sort price down":       "paint saw hoe rope nails",
		"sort name":             "hoe nails paint rope saw",
		"first 2":               "saw rope",
		"first 9":               "saw rope hoe nails paint",
		"sort price | first 1":  "rope",
		"first 1 | sort price":  "saw",
	} {
		if got, err := sieve(t, text); err != nil || names(got) != want {
			t.Errorf("%s: %v, %s, want %s", text, err, names(got), want)
		}
	}
}

func TestKeepAndCount(t *testing.T) {
	for text, want := range map[string]string{
		"first 1 | keep price, name": "price,name\n20,saw\n",
		"count place":                "place,count\ncellar,2\nattic,2\n,1\n",
		"count price | first 2":      "price,count\n20,1\n4.5,2\n",
	} {
		if got, err := sieve(t, text); err != nil || got != want {
			t.Errorf("%s: %v, %s", text, err, got)
		}
	}
}

func TestFieldsThatAreMissing(t *testing.T) {
	for _, text := range []string{"where size is 1", "keep name, size", "sort size", "count size", "keep name | sort price"} {
		if got, err := sieve(t, text); err == nil {
			t.Errorf("%s: %s", text, got)
		}
	}
}
