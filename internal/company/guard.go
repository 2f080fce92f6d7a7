package company

import (
	"fmt"
	"runtime/debug"
)

// Guard calls do and returns its error. A panic in it becomes an EInternal
// error that says what broke and has the stack in its Details: an effect that
// broke is a failed attempt, and never the end of the whole company. Every
// goroutine that carries out a part of an effect does it under a Guard, since a
// recover in the goroutine that started it does not see that panic.
func Guard(what string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e := E(EInternal, fmt.Sprintf("%s broke: %v", what, p)).Fix("report it, with the stack from the office's log")
			e.Details = string(debug.Stack())
			err = e
		}
	}()
	return do()
}
