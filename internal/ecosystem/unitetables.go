package ecosystem

import (
	"slices"
	"strings"

	"company/internal/lib/lazyregexp"
)

// Tables describes how the files of an ecosystem write tables of packages, with one entry a line.
type Tables struct {
	Begin     *lazyregexp.Regexp // matches the line before the first entry
	End       *lazyregexp.Regexp // matches the line after the last entry
	Entry     *lazyregexp.Regexp // matches a line with one entry; its first group is the name
	Separator string             // between entries, at the end of a line
}

// tableLines is a file with its tables taken out. rest still has the first line of each table.
type tableLines struct {
	rest   []string
	tables map[string][]string // first line → lines of entries
}

// Unite merges the tables of two sides of a file. The result has the entries that either side has added, changed or
// removed. It returns false if both sides changed the same entry or the text outside of tables in different ways. It
// also does so if both changed a table that has more than entries of one line.
func (t Tables) Unite(base, ours, theirs []byte) (united []byte, ok bool) {
	var sides [3]tableLines
	for i, text := range [][]byte{base, ours, theirs} {
		if sides[i], ok = t.splitTables(string(text)); !ok {
			return nil, false
		}
	}
	b := sides[0]
	o := sides[1]
	th := sides[2]
	rest := o.rest
	switch {
	case slices.Equal(o.rest, th.rest), slices.Equal(th.rest, b.rest):
	case slices.Equal(o.rest, b.rest):
		rest = th.rest
	default:
		return nil, false
	}
	// A side may have removed a table or changed its first line. Then the table's entries must equal the base's, or the
	// merge would lose changes.
	for _, side := range []tableLines{o, th} {
		for line, entries := range side.tables {
			if was, had := b.tables[line]; !slices.Contains(rest, line) && !(had && slices.Equal(entries, was)) {
				return nil, false
			}
		}
	}
	var out []string
	for _, line := range rest {
		out = append(out, line)
		if _, mine := o.tables[line]; !mine && th.tables[line] == nil {
			continue
		}
		entries, ok := t.uniteEntries(b.tables[line], o.tables[line], th.tables[line])
		if !ok {
			return nil, false
		}
		out = append(out, entries...)
	}
	return []byte(strings.Join(out, "\n")), true
}

// splitTables separates the tables from the rest of a text. It returns false if two tables have the same first line.
func (t Tables) splitTables(text string) (f tableLines, ok bool) {
	f.tables = map[string][]string{}
	table := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case table != "" && t.End.MatchString(line):
			table = ""
		case table != "":
			f.tables[table] = append(f.tables[table], line)
			continue
		}
		f.rest = append(f.rest, line)
		if t.Begin.MatchString(line) {
			if f.tables[line] != nil {
				return f, false
			}
			table, f.tables[line] = line, []string{}
		}
	}
	return f, true
}

// uniteEntries merges the lines of one table. Empty lines after the entries are kept.
func (t Tables) uniteEntries(base, ours, theirs []string) (lines []string, ok bool) {
	var names [3][]string
	var texts [3]map[string]string
	var after [3][]string
	for i, side := range [][]string{base, ours, theirs} {
		if names[i], texts[i], after[i], ok = t.readEntries(side); !ok {
			return uniteWhole(base, ours, theirs)
		}
	}
	result := map[string]string{}
	follows := map[string]string{} // entries that only theirs has, keyed by the entry before them
	before := ""
	for _, name := range names[2] {
		if texts[1][name] == "" {
			follows[before] = name
		}
		before = name
	}
	var order []string
	for _, name := range append([]string{""}, names[1]...) {
		if name != "" {
			order = append(order, name)
		}
		for added := follows[name]; added != ""; added = follows[added] {
			order = append(order, added)
		}
	}
	if slices.IsSorted(names[1]) && slices.IsSorted(names[2]) {
		slices.Sort(order)
	}
	order = slices.DeleteFunc(order, func(name string) bool {
		b := texts[0][name]
		o := texts[1][name]
		th := texts[2][name]
		switch {
		case o == th, th == b:
			result[name] = o
		case o == b:
			result[name] = th
		default:
			ok = false
		}
		return result[name] == ""
	})
	for i, name := range order {
		line := result[name]
		if i < len(order)-1 {
			line += t.Separator
		}
		lines = append(lines, line)
	}
	return append(lines, after[1]...), ok
}

// uniteWhole returns the table of the side that has changed it. It returns false if both sides have changed it
// differently.
func uniteWhole(base, ours, theirs []string) (lines []string, ok bool) {
	if slices.Equal(ours, base) {
		return theirs, true
	}
	return ours, slices.Equal(theirs, base) || slices.Equal(ours, theirs)
}

// readEntries returns the names of a table in order, their lines without separators, and the empty lines at the end.
func (t Tables) readEntries(lines []string) (names []string, texts map[string]string, after []string, ok bool) {
	texts = map[string]string{}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines, after = lines[:len(lines)-1], append(after, lines[len(lines)-1])
	}
	for _, line := range lines {
		m := t.Entry.FindStringSubmatch(line)
		if m == nil || texts[m[1]] != "" {
			return nil, nil, nil, false
		}
		names = append(names, m[1])
		texts[m[1]] = strings.TrimSuffix(strings.TrimRight(line, " \t\r"), t.Separator)
	}
	return names, texts, after, true
}
