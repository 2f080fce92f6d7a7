// Command count prints numbers of trees of Go code, side by side: how much code there is and
// of which kind, and how it is divided (docs/decisions/structure.md).
//
//	go run ./test/count                        this tree
//	go run ./test/count . @9975f587            beside a commit of it
//	go run ./test/count . MODULE@VERSION       beside a Go module
//
// It reads files as text and syntax, without types, so that every tree is counted by the same
// rules. Generated files and testdata are left out. It judges nothing: test/archtest holds bounds.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// row is a number of each tree.
type row struct {
	name   string
	values []string
}

func main() {
	flag.Parse()
	if err := printTrees(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func printTrees(names []string) error {
	if len(names) == 0 {
		names = []string{"."}
	}
	rows := []row{{name: "", values: names}}
	for _, name := range names {
		tree, err := openTree(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		counted, err := countTree(tree)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		list := counted.listNumbers()
		list = append(list, [2]string{"the stripped program (make build)", programSize(name)})
		for i, number := range list {
			if len(rows) <= i+1 {
				rows = append(rows, row{name: number[0]})
			}
			rows[i+1].values = append(rows[i+1].values, number[1])
		}
	}
	fmt.Print(renderRows(rows))
	return nil
}

// programSize returns the size of the program that make build put into a folder.
func programSize(dir string) string {
	info, err := os.Stat(filepath.Join(dir, "bin", "company"))
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)
}

// renderRows aligns rows for people.
func renderRows(rows []row) string {
	var out strings.Builder
	for _, line := range rows {
		fmt.Fprintf(&out, "%-58s", line.name)
		for _, value := range line.values {
			fmt.Fprintf(&out, "  %-24s", value)
		}
		out.WriteString("\n")
	}
	return out.String()
}
