/**
 * Drops undefined fields: `{ key, ...defined({ category, tags }) }` has a category only when there is one.
 *
 * With `exactOptionalPropertyTypes`, an optional property is absent or has a value; it never holds undefined.
 */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Defined<Fields>; // dropped fields are optional in the type
}

type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};
