package company

import (
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
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

// CheckParts finds what was left out when parts of the program, structs or
// pointers to them, were put together: an error that names the exported
// pointers, interfaces, functions and maps that are nil there. The tag
// part:"optional" marks those that may be.
func CheckParts(parts ...any) error {
	var missing []string
	for _, p := range parts {
		v := reflect.Indirect(reflect.ValueOf(p))
		for i := range v.NumField() {
			field, value := v.Type().Field(i), v.Field(i)
			if value.Kind() == reflect.Interface && !value.IsNil() {
				value = value.Elem()
			}
			switch value.Kind() {
			case reflect.Pointer, reflect.Interface, reflect.Func, reflect.Map:
				if value.IsNil() && field.IsExported() && field.Tag.Get("part") != "optional" {
					missing = append(missing, v.Type().String()+"."+field.Name)
				}
			}
		}
	}
	if missing == nil {
		return nil
	}
	return E(EInternal, "the program is put together without "+strings.Join(missing, ", "))
}
