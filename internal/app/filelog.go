package app

import (
	"cmp"
	"log/slog"

	"company/internal/company"
	"company/internal/config"
	"company/internal/folder"
	"company/internal/leak"
)

const companyLog = "company.log"

// What the logs of the office may take: company.log and git.log, each with those before.
const (
	maxLogBytes = 16 << 20 // bytes of one file
	keptLogs    = 4        // files before it
)

// newFileLog adds company.log of the office, as lines of JSON, to a logger
// (LOG-1). The file holds transitions and troubles, never a conversation.
//
// told gets the error when the file cannot be written any more, and nil when it
// can again; the other logger reports it, too.
func newFileLog(logs *folder.Folder, also *slog.Logger, c config.Log, own []leak.Own, told func(error)) (*slog.Logger, func() error, error) {
	level := slog.LevelInfo
	if err := level.UnmarshalText([]byte(cmp.Or(c.Level, "info"))); err != nil {
		return nil, nil, company.E(company.EConfig, "log.level is "+c.Level).Fix("error, warn, info or debug")
	}
	f, err := logs.OpenRotating(companyLog, maxLogBytes, keptLogs)
	if err != nil {
		return nil, nil, company.E(company.EConfig, "the office's log cannot be written").Wrap(err).Fix("see that the folder is yours and has space")
	}
	watched := folder.Watch(f, func(err error) {
		if err != nil {
			also.Warn("the office's log is not written", "file", logs.Join(companyLog), "err", err)
		}
		told(err)
	})
	return slog.New(slog.NewMultiHandler(also.Handler(), newLogLines(watched, level, own))), f.Close, nil
}
