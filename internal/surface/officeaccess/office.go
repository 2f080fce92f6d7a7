// Package officeaccess gives commands and the terminal UI access to an office.
//
// It resolves which office, which checkout or project, and which config the user means. Exactly one
// process has an office at a time, and every surface is its client (Reach, ConnectOffice, Read). If
// no process has the office, the package starts one in the background, which ends when it is no longer used
// (background.go). company serve and commands that need the office for themselves take it (TakeOver,
// TakeLock). Reading creates no office and starts no work, and a command uses one reading of a config. The
// package prints only notices about an office's folders, and decides nothing about tasks.
package officeaccess

import (
	"context"
	"slices"
	"time"

	"company/internal/api"
	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/clock"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/surface/terminalio"
)

// Entrance is the access of one process to offices. It holds the user's choices, and the console
// for notices.
type Entrance struct {
	Console *terminalio.Console // its environment is that of the process

	OfficeDir   string   // folder of the office, empty to search for it
	RepoDir     string   // checkout, or an address for a submission (empty means the working directory)
	ConfigFlags []string // key=value pairs for the config

	Version string        // of the program
	Commit  string        // commit that it was built from; may be empty
	Clocks  clock.Sources // the zero value means this machine's clocks

	Desk api.Desk // for offices that this process opens; may be nil

	// Foreground makes this process open the office itself if no other process has it, instead of starting one in
	// the background.
	Foreground bool

	own     *officeapp.App              // the office, while this process has it
	changed bool                        // the office got events while this process last had it
	configs map[[2]string]config.Loaded // loaded configs by office and project
}

// ForCall returns an Entrance for one call of a program, with a console of its own and no loaded
// configs.
func (ent *Entrance) ForCall(console *terminalio.Console) *Entrance {
	return &Entrance{
		Console: console, OfficeDir: ent.OfficeDir, RepoDir: ent.RepoDir, ConfigFlags: slices.Clone(ent.ConfigFlags),
		Version: ent.Version, Commit: ent.Commit, Clocks: ent.Clocks,
	}
}

// WallTime returns the time of the wall clock.
func (ent *Entrance) WallTime() time.Time {
	if ent.Clocks.Wall != nil {
		return ent.Clocks.Wall()
	}
	return time.Now()
}

// FindOffice finds the office without creating it.
func (ent *Entrance) FindOffice() (office.Paths, error) {
	if officeapp.IsAddress(ent.RepoDir) {
		return office.Paths{}, company.E(company.EUsage, "only company submit takes an address with --repo").
			Because("other commands use the current office").
			Fix("leave --repo out; company project list shows where the clone is")
	}
	return office.Find(office.FindOptions{Dir: ent.RepoDir, Office: ent.OfficeDir, Env: ent.Console.LookupEnv})
}

// openOptions returns the options with which this process opens an office.
func (ent *Entrance) openOptions(off *office.Office, lock *office.Lock, loaded config.Loaded) officeapp.Options {
	return officeapp.Options{
		Office: off, Lock: lock, Config: loaded, Env: ent.Console.LookupEnv, Clocks: ent.Clocks, Version: ent.Version,
		Logger:  ent.Console.Log,
		Configs: ent.ProjectConfigs(off.Paths), Lines: lineWriter{ent, off.Paths}, Desk: ent.Desk,
	}
}

// OpenOffice opens the folders of an office and prints its notices.
func (ent *Entrance) OpenOffice(ctx context.Context, paths office.Paths) (*office.Office, error) {
	off, err := office.Open(ctx, paths)
	if err != nil {
		return nil, err
	}
	ent.printNotices(off.Notices)
	return off, nil
}

// IdentifyOffice returns the id of the current office, or "" if there is none. atWork reports whether
// its work has started in a process.
func (ent *Entrance) IdentifyOffice(ctx context.Context) (id string, atWork bool) {
	paths, err := ent.FindOffice()
	if err != nil || !paths.Exists() {
		return "", false
	}
	return office.ReadID(paths), client.FindWorking(ctx, paths) != 0
}

// ConnectOffice connects to the office for a command that reads or sends commands. It creates no
// office. If the process that has the office ends meanwhile, the client connects again.
func (ent *Entrance) ConnectOffice(ctx context.Context) (*client.Office, office.Paths, error) {
	conn, paths, err := ent.ConnectOnce(ctx)
	if conn != nil {
		conn.Reconnect(func(ctx context.Context) (*client.Office, error) {
			again, _, err := ent.ConnectOnce(ctx)
			return again, err
		})
	}
	return conn, paths, err
}

// ConnectOnce is ConnectOffice without reconnecting, for callers that follow an office. They
// notice when the company ends and connect again themselves.
func (ent *Entrance) ConnectOnce(ctx context.Context) (*client.Office, office.Paths, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return nil, paths, err
	}
	if !paths.Exists() {
		if _, err := ent.LoadConfig(ctx, paths); err != nil {
			return nil, paths, err // company submit, which opens an office, would fail
		}
		return client.None(paths), paths, nil
	}
	conn, err := ent.Reach(ctx, paths)
	return conn, paths, err
}
