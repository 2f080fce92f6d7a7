package orchestrator

import (
	"encoding/json"
	"slices"
	"strings"

	"company/internal/lib/secretscan"
)

// textFields are the fields of events that hold what people and agents say, and what programs print. Other fields are
// executed, compared or written: a mask in a command or in the name of a test would change what is done.
var textFields = strings.Fields("acceptance_criteria context decisions description error evidence fix hint input " +
	"instruction note notes output problem question reason remarks risks says suggestion summary text title what why")

// redactText replaces secrets in the texts of an event's data.
func redactText(secrets *secretscan.Scanner, data json.RawMessage) json.RawMessage {
	return secretscan.ReplaceStrings(data, func(field, value string) string {
		if !slices.Contains(textFields, field) {
			return value
		}
		return secrets.Redact(value)
	})
}
