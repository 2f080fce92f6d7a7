// Package faults has one fault of each kind. A line ends with the names of those who must report it.
package faults

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

var errSpent = errors.New("spent")

func close(file *os.File) {
	file.Close() // want errcheck
	defer file.Close()
	fmt.Fprintln(os.Stderr, "closed")
	file.Close() //nolint:errcheck // it has been read
	file.Close() //nolint:errorlint // another's // want errcheck
}

func compare(err error) bool {
	if err == io.ErrShortBuffer { // want errorlint
		return true
	}
	//nolint:errorlint // the very same
	return err == errSpent
}

func get(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	reply, err := http.DefaultClient.Do(request) // want bodyclose
	if err != nil {
		return err
	}
	return look(reply.Status) // want contextcheck
}

func look(text string) error {
	return context.Cause(start(context.Background(), text))
}

func start(ctx context.Context, text string) context.Context {
	fmt.Printf("%d\n", text) // want printf SA5009
	return ctx
}

func trim(text string) string {
	return strings.TrimLeft(text, "letters") // want SA1024
}

func read(in io.Reader) string {
	lines := bufio.NewScanner(in)
	lines.Scan()
	return strings.Title(lines.Text()) // want SA1019
}

func size(file *os.File, text string) int { // want unparam
	if compare(get(context.TODO(), file.Name())) {
		return 0
	}
	return len(file.Name())
}

func all(file *os.File) {
	close(file)
	fmt.Println(size(file, ""), trim(""), read(file))
}

var _ = all
