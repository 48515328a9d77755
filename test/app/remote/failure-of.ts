/** What a call is refused with. */
export async function failureOf(asked: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { code, message } = Object(error);
  return { code, message };
}
