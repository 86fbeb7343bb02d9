/** Replaces what signs the headers of messages in an event stream. No function sends such a stream. */
export class HeaderFormatter {
  format(): never {
    throw new Error('This bundle signs no event streams.');
  }
}
