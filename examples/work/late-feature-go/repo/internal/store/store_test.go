package store

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"example.com/shelf/internal/shelf"
)

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shelf.json")
	s, err := Load(path)
	if err != nil || len(s.Items()) != 0 {
		t.Fatalf("a missing file: %v", err)
	}
	for _, title := range []string{"Long ladder", "Tent"} {
		if _, err := s.Add("ann", title); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Lend(2, "bob", "2026-03-02", 4); err != nil {
		t.Fatal(err)
	}
	if err := Save(path, s); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil || !reflect.DeepEqual(again.Items(), s.Items()) {
		t.Errorf("got %v, %v", again, err)
	}
}

func TestLoadOldLoan(t *testing.T) {
	s, err := load(t, `{"version": 1, "items": [{"id": 1, "title": "Tent", "owner": "ann", "lent_to": "bob"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	tent, err := s.Item(1)
	if err != nil || !tent.Out() || tent.Late("2036-01-01") != 0 {
		t.Errorf("got %v, %v", tent, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 9, "items": []}`: "version 9",
		`{"items": []}`:               "version 0",
		`[]`:                          "array",
		`{"version": 1, "items": [{"id": 1, "title": "Tent", "owner": "ann", "color": "red"}]}`:                              "color",
		`{"version": 1, "items": [{"id": 1, "title": "Tent", "owner": "ann", "lent_to": "bob", "since": "2026-03-02"}]}`:     "days",
		`{"version": 1, "items": [{"id": 1, "title": "Tent", "owner": "ann", "lent_to": "bob", "since": "x", "due": "xx"}]}`: "no day",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// load loads a file of this text.
func load(t *testing.T, text string) (*shelf.Shelf, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shelf.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}
