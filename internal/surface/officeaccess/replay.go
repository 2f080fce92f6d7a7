package officeaccess

import (
	"context"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/engine/replay"
)

// ReplayChoice holds the options of a replay.
type ReplayChoice struct {
	OtherPrompts bool              // ignore differences in messages that the program itself writes
	Progress     func(line string) // called with a line for each step; must return quickly
}

// ReplayTask replays a finished task of the office. The report lists divergences, which are no
// errors.
func (ent *Entrance) ReplayTask(ctx context.Context, id company.TaskID, how ReplayChoice) (*replay.Report, error) {
	paths, loaded, err := ent.LoadReady(ctx)
	if err != nil {
		return nil, err
	}
	conn, _, err := ent.ConnectOffice(ctx)
	if err != nil {
		return nil, err
	}
	record, err := conn.ReadRecord(ctx, id)
	conn.Close()
	if err != nil {
		return nil, err
	}
	return ent.replay(
		ctx, officeapp.ReplayOptions{Record: record, Paths: paths, Config: loaded, Configs: ent.ProjectConfigs(paths)}, how)
}

// ReplayRecord replays the task of a record file like ReplayTask, with the settings in the record.
// It needs no office.
func (ent *Entrance) ReplayRecord(ctx context.Context, path string, how ReplayChoice) (*replay.Report, error) {
	file, pack, err := officeapp.OpenRecord(ctx, path)
	if err != nil {
		return nil, err
	}
	defer pack.Close()
	loaded, err := ent.LoadRecorded(ctx, file.Settings)
	if err != nil {
		return nil, err
	}
	file.Record.NoteProgram(file.Program, ent.Version)
	return ent.replay(
		ctx, officeapp.ReplayOptions{Record: file.Record, Pack: pack, Config: loaded,
			Configs: officeapp.FixedConfig{Loaded: loaded}}, how)
}

func (ent *Entrance) replay(
	ctx context.Context, options officeapp.ReplayOptions, how ReplayChoice,
) (*replay.Report, error) {
	options.OtherPrompts, options.Progress = how.OtherPrompts, how.Progress
	options.Env = ent.Console.LookupEnv
	options.Version = ent.Version
	options.Logger = ent.Console.Log
	return officeapp.Replay(ctx, options)
}

// SaveRecord writes the record of a finished task of the office into a new file.
func (ent *Entrance) SaveRecord(ctx context.Context, id company.TaskID, path string) (*replay.Saved, error) {
	paths, loaded, err := ent.LoadReady(ctx)
	if err != nil {
		return nil, err
	}
	conn, _, err := ent.ConnectOffice(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	size, err := officeapp.SaveRecord(ctx, officeapp.SaveOptions{
		Task: id, Records: conn, Paths: paths, Config: loaded, Configs: ent.ProjectConfigs(paths), Env: ent.Console.LookupEnv,
		Version: ent.Version,
	}, path)
	if err != nil {
		return nil, err
	}
	return &replay.Saved{SchemaVersion: 1, Task: id, File: path, Bytes: size}, nil
}
