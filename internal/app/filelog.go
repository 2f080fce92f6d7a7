package app

import (
	"log/slog"

	"company/internal/company"
	"company/internal/folder"
)

const companyLog = "company.log"

// newFileLog adds company.log of the office, as lines of JSON, to a logger
// (LOG-1). Its level is COMPANY_LOG_LEVEL: debug, info (the default), warn or
// error. The file holds transitions and troubles, never a conversation.
//
// told gets the error when the file cannot be written any more, and nil when it
// can again; the other logger reports it, too.
func newFileLog(logs *folder.Folder, also *slog.Logger, env func(string) (string, bool), told func(error)) (*slog.Logger, func() error, error) {
	level := slog.LevelInfo
	if v, ok := env("COMPANY_LOG_LEVEL"); ok && v != "" {
		if err := level.UnmarshalText([]byte(v)); err != nil {
			return nil, nil, company.E(company.EConfig, "COMPANY_LOG_LEVEL is "+v).Fix("debug, info, warn or error")
		}
	}
	f, err := logs.Append(companyLog)
	if err != nil {
		return nil, nil, company.E(company.EConfig, "the office's log cannot be written").Wrap(err).Fix("see that the folder is yours and has space")
	}
	watched := folder.Watch(f, func(err error) {
		if err != nil {
			also.Warn("the office's log is not written", "file", logs.Join(companyLog), "err", err)
		}
		told(err)
	})
	file := slog.NewJSONHandler(watched, &slog.HandlerOptions{Level: level})
	return slog.New(slog.NewMultiHandler(also.Handler(), file)), f.Close, nil
}
