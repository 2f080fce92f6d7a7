package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/safedir"
	"company/internal/office"
)

// migrateChildOffice makes a child of this program that migrates an office, tells each step and waits before it.
const migrateChildOffice = "MIGRATE_CHILD_OFFICE"

// errBroken is the failure of the last step of a broken table.
var errBroken = errors.New("the records are odd")

// testMigrations leads to a format of the tests alone: its folder of records has a file "three", which the first step
// calls "two".
func testMigrations(last error) []office.Migration {
	name := func(from, to *safedir.Folder, old, new string) error {
		if err := os.CopyFS(to.Path(), os.DirFS(from.Path())); err != nil {
			return err
		}
		if old != "" {
			return to.Rename(old, new)
		}
		return to.WriteFile(new, []byte("format of a test\n"), 0o600)
	}
	return []office.Migration{
		{About: "name the records", Rewrite: func(_ context.Context, _ string, from, to *safedir.Folder) error {
			return name(from, to, "", "two")
		}},
		{About: "name them better", Rewrite: func(_ context.Context, _ string, from, to *safedir.Folder) error {
			return errors.Join(name(from, to, "two", "three"), last)
		}},
	}
}

// nameThree is a step of a later version.
func nameThree(_ context.Context, _ string, from, to *safedir.Folder) error {
	return errors.Join(os.CopyFS(to.Path(), os.DirFS(from.Path())), to.Rename("three", "four"))
}

func migrateSlowly(dir string) error {
	office.Migrations = testMigrations(nil)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // never an orphan
	defer cancel()
	in := bufio.NewReader(os.Stdin)
	_, err := migrateDirWith(ctx, dir, func(step string) {
		fmt.Println(step)
		_, _ = in.ReadString('\n')
	})
	return err
}

func migrateDirWith(ctx context.Context, dir string, report func(string)) (out Migration, err error) {
	paths, err := office.Find(office.FindOptions{Dir: dir, Env: os.LookupEnv})
	if err != nil {
		return out, err
	}
	off, err := office.Open(ctx, paths.ForMigration())
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	return Migrate(ctx, off, slog.New(slog.DiscardHandler), report)
}

// setMigrations sets the table for one test.
func setMigrations(t *testing.T, table []office.Migration) {
	office.Migrations = table
	t.Cleanup(func() { office.Migrations = nil })
}

// TestMigrate (STA-10): an office with pending migrations is refused, and company migrate runs all of them, in order.
// One that fails leaves the office as it was. A killed migration is repeated or finished. No record is lost.
func TestMigrate(t *testing.T) {
	for _, driver := range BusDriverNames() {
		for _, step := range []string{"", "fail", "rewrite", "record", "place"} {
			t.Run(driver+" "+step, func(t *testing.T) {
				dir, want := filledOffice(t, driver)
				setMigrations(t, testMigrations(nil))
				if _, err := openDir(t.Context(), dir); company.CodeOf(err) != company.EMigration ||
					!strings.Contains(err.Error(), "migration_pending") {
					t.Fatalf("an office with pending migrations: %v", err)
				}
				switch step {
				case "":
				case "fail":
					office.Migrations = testMigrations(errBroken)
					_, err := migrateDirWith(t.Context(), dir, func(string) {})
					if !errors.Is(err, errBroken) || company.CodeOf(err) != company.EMigration {
						t.Fatal(err)
					}
					office.Migrations = nil
					if got := recordsOf(t, dir, driver); !slices.Equal(got, want) {
						t.Fatalf("after a failure: %d records, want %d", len(got), len(want))
					}
					office.Migrations = testMigrations(nil)
				default:
					killChild(t, step, migrateChildOffice+"="+dir)
				}
				if step == "place" { // the next version has one step more, and finds the records of this one complete
					office.Migrations = append(testMigrations(nil), office.Migration{About: "rename", Rewrite: nameThree})
					done, err := migrateDirWith(t.Context(), dir, func(string) {})
					if err != nil || done.To != 4 {
						t.Fatalf("%+v, %v", done, err)
					}
					if got := recordsOf(t, dir, driver); !slices.Equal(got, want) {
						t.Fatalf("a newer version: %d records, want %d", len(got), len(want))
					}
					return
				}
				done, err := migrateDirWith(t.Context(), dir, func(string) {})
				if err != nil || done.From != 1 || done.To != 3 || len(done.Steps) != 2 {
					t.Fatalf("%+v, %v", done, err)
				}
				again, err := migrateDirWith(t.Context(), dir, func(string) {})
				if err != nil || again.From != 3 || len(again.Steps) != 0 {
					t.Fatalf("again: %+v, %v", again, err)
				}
				if got := recordsOf(t, dir, driver); !slices.Equal(got, want) {
					t.Fatalf("%d records, want %d", len(got), len(want))
				}
				off := mustOpenDir(t, dir)
				defer off.Close()
				if _, err := os.Stat(filepath.Join(off.Bus, busRecords()[driver], "three")); err != nil {
					t.Error(err)
				}
				if _, err := os.Stat(filepath.Join(off.Bus, migrateDir)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the folder of the migration is still there: %v", err)
				}
				office.Migrations = nil
				if _, err := openDir(t.Context(), dir); company.CodeOf(err) != company.EConfig {
					t.Errorf("an older version opens it: %v", err)
				}
			})
		}
	}
}
