package imports

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"

	"example.com/hours/internal/cli"
	"example.com/hours/internal/journal"
)

func init() {
	cli.Register(cli.Command{Name: "import-csv", Args: "FILE", Help: "adds entries from comma-separated values", Run: importCSV})
}

func importCSV(env *cli.Env, args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	list, err := readCSV(f)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return add(env, list)
}

// readCSV reads rows of day, start, end, project and note.
func readCSV(r io.Reader) (list []journal.Entry, err error) {
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = 5
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		note := strings.Join(strings.Fields(row[4]), " ")
		e, err := journal.Parse(fmt.Sprintf("%s %s-%s %s %s", row[0], row[1], row[2], row[3], note))
		if err != nil {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		list = append(list, e)
	}
}
