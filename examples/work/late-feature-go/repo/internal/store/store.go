// Package store keeps a shelf in a file.
package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"example.com/shelf/internal/day"
	"example.com/shelf/internal/shelf"
)

// version is that of the files that are written.
const version = 1

type file struct {
	Version int    `json:"version"`
	Items   []item `json:"items"`
}

type item struct {
	ID     int     `json:"id"`
	Title  string  `json:"title"`
	Owner  string  `json:"owner"`
	LentTo string  `json:"lent_to,omitempty"`
	Since  day.Day `json:"since,omitempty"`
	Due    day.Day `json:"due,omitempty"`
}

// Load reads the shelf of a file; one that is missing is an empty shelf.
func Load(path string) (*shelf.Shelf, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return shelf.New(nil)
	}
	if err != nil {
		return nil, err
	}
	items, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := shelf.New(items)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func decode(text []byte) (items []shelf.Item, err error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.Version != version {
		return nil, fmt.Errorf("version %d of the file is not known", head.Version)
	}
	var f file
	if err := decodeStrictly(text, &f); err != nil {
		return nil, err
	}
	for _, i := range f.Items {
		items = append(items, shelf.Item(i))
	}
	return items, nil
}

// decodeStrictly refuses fields that nobody knows.
func decodeStrictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// Save writes the shelf to a file, as a whole or not at all.
func Save(path string, s *shelf.Shelf) error {
	f := file{Version: version, Items: []item{}}
	for _, i := range s.Items() {
		f.Items = append(f.Items, item(i))
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return write(path, append(text, '\n'))
}

func write(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
