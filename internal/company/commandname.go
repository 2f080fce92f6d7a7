package company

import (
	"fmt"
	"reflect"
)

// commandNames holds the ledger's names of the commands that have an id of their sender. A Go type may be renamed, but
// its name here may not: it is part of the hashes in ledgers. With another name, a repeated command would look like a
// different one.
var commandNames = map[reflect.Type]string{
	reflect.TypeFor[Submit]():              "company.Submit",
	reflect.TypeFor[Answer]():              "company.Answer",
	reflect.TypeFor[Cancel]():              "company.Cancel",
	reflect.TypeFor[Stop]():                "company.Stop",
	reflect.TypeFor[Resume]():              "company.Resume",
	reflect.TypeFor[Pause]():               "company.Pause",
	reflect.TypeFor[PauseSubtask]():        "company.PauseSubtask",
	reflect.TypeFor[RaiseBudget]():         "company.RaiseBudget",
	reflect.TypeFor[RaiseOfficeBudget]():   "company.RaiseOfficeBudget",
	reflect.TypeFor[SettlePR]():            "company.SettlePR",
	reflect.TypeFor[RecordPRFeedback]():    "company.HearPR",
	reflect.TypeFor[ScaleWorkers]():        "company.Staff",
	reflect.TypeFor[AddProject]():          "company.AddProject",
	reflect.TypeFor[RemoveProject]():       "company.RemoveProject",
	reflect.TypeFor[Tell]():                "company.Tell",
	reflect.TypeFor[Retry]():               "company.Retry",
	reflect.TypeFor[WorkOnPlan]():          "company.WorkOnPlan",
	reflect.TypeFor[RollBack]():            "company.RollBack",
	reflect.TypeFor[EditPlan]():            "company.EditPlan",
	reflect.TypeFor[RecordRefusedAccess](): "company.NoteRefused",
}

// WishOf returns the hash of a command's content. It distinguishes a repeated command from another command with the
// same id.
func WishOf(command Command) (Hash, error) {
	name, ok := commandNames[reflect.TypeOf(command)]
	if !ok {
		return "", E(EInternal, fmt.Sprintf("%T has no name in the ledger, so its sender cannot give it "+
			"an id", command))
	}
	wish, err := HashOf(map[string]any{"command": name, "fields": command})
	if err != nil {
		return "", E(EInvalid, "the command has a field that cannot be stored").Wrap(err)
	}
	return wish, nil
}
