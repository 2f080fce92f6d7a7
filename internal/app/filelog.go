package app

import (
	"cmp"
	"log/slog"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/safedir"
	"company/internal/lib/secretscan"
	"company/internal/office/config"
)

const companyLog = "company.log"

// Size limits of the office's logs, company.log and git.log.
const (
	maxLogBytes = 16 << 20 // size of one file, in bytes
	keptLogs    = 4        // number of older files kept
)

// newFileLog adds the office's company.log, as lines of JSON, to a logger (LOG-1). The file holds
// state changes and problems, and conversations only at the level trace.
//
// The callback gets the error when the file can no longer be written, and nil once it can. The
// logger also reports the error.
func newFileLog(
	logs *safedir.Folder, also *slog.Logger, log config.Log, secrets *secretscan.Scanner, told func(error),
) (*slog.Logger, func() error, error) {
	level := agent.LevelTrace
	if log.Level != "trace" {
		if err := level.UnmarshalText([]byte(cmp.Or(log.Level, "info"))); err != nil {
			return nil, nil, company.E(company.EConfig, "invalid log.level "+log.Level).
				Fix("use error, warn, info, debug or trace")
		}
	}
	rotating, err := logs.OpenRotating(companyLog, maxLogBytes, keptLogs)
	if err != nil {
		return nil, nil, company.E(company.EConfig, "cannot write the office's log").Wrap(err).
			Fix("check that you own the folder and that the disk has space")
	}
	watched := safedir.Watch(rotating, func(err error) {
		if err != nil {
			also.Warn("the office's log is not written", "file", logs.Join(companyLog), "err", err)
		}
		told(err)
	})
	return slog.New(slog.NewMultiHandler(also.Handler(), newLogLines(watched, level, secrets))), rotating.Close, nil
}
